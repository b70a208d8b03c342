// Fuzz target: text that claims to be a manifest becomes one that survives the way back, or a
// StorageError. Links with libFuzzer (clang -fsanitize=fuzzer); drivers_tests calls it with
// mutations of a valid one.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compiler/drivers/manifest.h"
#include "engine/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nocturne::compiler;
  Manifest manifest;
  try {
    manifest = parseManifest({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const nocturne::StorageError&) {
    return 0;
  }
  if (parseManifest(toJson(manifest), "fuzz") != manifest)
    std::abort();
  return 0;
}
