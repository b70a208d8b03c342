#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

// Sanitizer defaults: LLVM's allocator in our objects poisons memory that the uninstrumented
// libMLIR never unpoisons.
extern "C" const char* __asan_default_options() {
  return "allow_user_poisoning=0";
}
