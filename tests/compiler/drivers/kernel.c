/* What the code generator of the tests makes of a module: four numbers times FACTOR. */
#include <stddef.h>
#include <stdint.h>

#ifdef NEEDS
int NEEDS(void);
#else
#define NEEDS() 0
#endif

/* Not an entry, so a library must not show it. */
float nobodys_business = FACTOR;

int32_t ENTRY(void* const* args, size_t n) {
  if (n != 2)
    return 1;
  const float* in = args[0];
  float* out = args[1];
  for (int i = 0; i < 4; ++i)
    out[i] = in[i] * nobodys_business;
  return NEEDS();
}
