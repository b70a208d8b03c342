// Fuzzes the reader: any bytes give a module or an ItemError.

#include <cstddef>
#include <cstdint>

#include "compiler/reader/reader.h"
#include "engine/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    nocturne::compiler::readModuleText({reinterpret_cast<const char*>(data), size}, "fuzz.mlir");
  } catch (const nocturne::ItemError&) {
    // The promised answer to a text that is no module.
  }
  return 0;
}
