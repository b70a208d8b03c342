// Running candidates in this process: their results, then their times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/tuning/benchmark.h"
#include "engine/error.h"

namespace nocturne::compiler {

// What candidates are run on and compared with.
struct Trials {
  std::string entry;   // "" when libraries have only one
  std::string results; // file that has, or gets, the results of the reference
  uint64_t seed = 0;   // of the inputs, which are the same wherever they are made
  std::optional<double> tolerance;
  TimingOptions timing;
};

// What became of one candidate.
struct Measured {
  enum class State : uint8_t { Timed, Wrong, Failed };
  State state = State::Failed;
  std::string reason; // of the other two
  Timing timing;
};

// Runs a library on the inputs and writes what it computes. Throws ItemError, StorageError.
void writeResults(const std::string& library, const Trials& trials);

// Compares the results of every library, times those that are right, and compares again: code that
// is right only once is not. Throws ItemError for results that cannot be read.
std::vector<Measured> measure(const std::vector<std::string>& libraries, const Trials& trials);

} // namespace nocturne::compiler
