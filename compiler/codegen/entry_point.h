// How compiled functions are called from outside.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nocturne::compiler {

// One tensor that goes in or comes out: dense, row by row.
struct EntryArgument {
  std::string dtype; // "f32", "ui8", "complex<f64>", "f8E4M3FN": StableHLO's name
  std::vector<int64_t> dims;
  bool isResult = false;

  bool operator==(const EntryArgument&) const = default;
};

// A public function. Its symbol has the C type
//
//   int32_t symbol(void* const* arguments, size_t count)
//
// where `arguments` are the addresses of the data of all inputs and then of all results; 1 comes
// back, and nothing is done, when `count` is another number than arguments.size(). Elements
// narrower than a byte take a byte each (the upper bits zero), all others their own size. Results
// may overlap neither inputs nor each other; every address has the alignment of its element type.
struct EntryPoint {
  std::string function; // its name in the module
  std::string symbol;
  std::vector<EntryArgument> arguments;
};

} // namespace nocturne::compiler
