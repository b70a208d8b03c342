/* What the code generator of the tests makes of a candidate: four numbers times a factor, in a way
   that a number says. Compiled once; the generator writes other numbers into the object. */
#include <stddef.h>
#include <stdint.h>

enum Way { kRight, kWrong, kCrash, kHang, kRefuse, kRightOnce };

static volatile int32_t way = 0x0badcafe;
static volatile int32_t rounds = 0x0badbeef;

int32_t scale(void* const* args, size_t n) {
  static int calls = 0;
  const float* in;
  float* out;
  float factor = 2.0f;
  if (n != 2)
    return 1;
  in = args[0];
  out = args[1];
  ++calls;
  if (way == kCrash)
    __builtin_trap();
  while (way == kHang)
    ;
  if (way == kRefuse)
    return 7;
  if (way == kWrong || (way == kRightOnce && calls > 1))
    factor = 2.01f;
  for (int32_t round = 0; round < rounds; ++round)
    for (int i = 0; i < 4; ++i)
      ((volatile float*)out)[i] = in[i] * factor;
  return 0;
}
