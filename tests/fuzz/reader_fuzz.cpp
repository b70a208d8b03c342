// Fuzzes the reader: any bytes give a module or an ItemError that says why.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "compiler/reader/reader.h"
#include "engine/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    nocturne::compiler::readModuleText({reinterpret_cast<const char*>(data), size}, "fuzz.mlir");
  } catch (const nocturne::ItemError& error) {
    if (error.failure().message.empty())
      std::abort();
  }
  return 0;
}
