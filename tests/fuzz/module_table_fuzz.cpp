// Fuzz target: bytes that claim to be a module table either become one that survives the way back,
// or an Error. Links with libFuzzer (clang -fsanitize=fuzzer); engine_tests calls it with mutations
// of a valid table.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/error.h"
#include "engine/module.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  nocturne::Module module;
  try {
    module = nocturne::deserialiseModule({reinterpret_cast<const char*>(data), size});
  } catch (const nocturne::Error&) {
    return 0;
  }
  std::string once = nocturne::serialise(module);
  std::string twice = nocturne::serialise(nocturne::deserialiseModule(once));
  if (once != twice)
    std::abort();
  return 0;
}
