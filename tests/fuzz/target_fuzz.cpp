// Fuzz target: text that claims to be a build target becomes one with a spelling of its own, or a
// UsageError. Links with libFuzzer (clang -fsanitize=fuzzer); drivers_tests calls it with mutations
// of valid ones.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compiler/drivers/target.h"
#include "engine/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nocturne::compiler;
  Target target;
  try {
    target = parseTarget({reinterpret_cast<const char*>(data), size});
  } catch (const nocturne::UsageError&) {
    return 0;
  }
  if (parseTarget(target.text()) != target)
    std::abort();
  return 0;
}
