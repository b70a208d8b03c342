// The candidates that the compiler knows by itself.
#pragma once

#include <string>
#include <vector>

#include "compiler/drivers/target.h"
#include "compiler/tuning/task.h"

namespace nocturne::compiler {

// What all others are compared with: the payload, its linalg not optimised at all.
Candidate referenceCandidate();

// The compiler's usual way first, then those of the task, then those of the search space. Throws
// UsageError when the task gives one of its candidates a name that the compiler uses.
std::vector<Candidate> candidatesOf(const Task& task, const Target& target);

// Blocks and tiles of a matrix product: rows, columns and sums of a block that stays in a cache,
// and of a tile that stays in registers.
struct ProductTiling {
  int rows, columns, sums;
  int tileRows, tileColumns, tileSums;
};
// A schedule for the matrix products of a module, batched ones as well.
std::string productSchedule(const ProductTiling& tiling);

// The flags of a candidate with its schedule among them.
std::vector<std::string> flagsOf(const Candidate& candidate);

} // namespace nocturne::compiler
