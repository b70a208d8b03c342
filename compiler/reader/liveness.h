// How much memory a module needs when its table runs in order.
#pragma once

#include <vector>

#include "engine/module.h"

namespace nocturne::compiler {

// What the rows alone do not say about the lives of values.
struct LifeFacts {
  // Rows [begin, end) that run repeatedly; the row of the loop itself is begin - 1. In any order.
  struct Loop {
    uint32_t begin, end;
  };
  // A use by the end of an inlined region, which has no row: at the region's last row.
  struct Use {
    uint32_t row, value;
  };
  std::vector<Loop> loops;
  std::vector<Use> uses;
  // Bytes of constants and of the entry's arguments, which are held throughout.
  double heldBytes = 0;
  // Numbers of the entry's arguments: [0, argumentCount) in a module with one entry function.
  std::vector<uint32_t> arguments;
  uint32_t valueCount = 0;
};

// Values live from their definition to their last use, those that a loop uses from outside to its
// end. Operations that move nothing (reshape, tuple, ...) share the memory of their operands, and
// carried values of a loop that of what they start with. Conservative elsewhere: nothing is updated
// in place.
double peakBytesOf(const Module& module, const LifeFacts& facts);

} // namespace nocturne::compiler
