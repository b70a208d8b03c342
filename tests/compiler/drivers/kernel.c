/* What the code generator of the tests makes of a module: four numbers times a factor. Compiled
   once; the generator writes another name and another number into the object. */
#include <stddef.h>
#include <stdint.h>

/* No entry, so a library must not show it; weak, so that several modules may have it. */
#ifdef NEEDS
int NEEDS(void);
int nobodys_business = 1;
#else
#define NEEDS() 0
__attribute__((weak)) int nobodys_business = 1;
#endif

static volatile float factor = 12345.0f;

int32_t entry_to_rename_(void* const* args, size_t n) {
  if (n != 2)
    return 1;
  const float* in = args[0];
  float* out = args[1];
  for (int i = 0; i < 4; ++i)
    out[i] = in[i] * factor;
  return NEEDS();
}
