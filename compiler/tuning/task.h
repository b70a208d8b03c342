// What is tuned: a computation and ways of doing it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/drivers/code_generator.h"

namespace nocturne::compiler {

// One way to compute a task: a schedule or options of the code generator for its payload, or
// another module with the same entry point.
struct Candidate {
  std::string name;                   // for people; of its own in its task
  std::string schedule;               // text of transform sequences, see codegen/schedule.h
  std::vector<std::string> flags;     // of the code generator
  std::optional<ModuleSource> module; // instead of the task's payload
  bool operator==(const Candidate&) const;
};

// How many candidates the compiler adds to those of the task.
enum class SearchSpace : uint8_t {
  Default, // its usual way alone
  Small,   // and a few others
  Large,   // and all that it knows
};
// Throws UsageError for another number than 0, 1 and 2.
SearchSpace searchSpaceFromNumber(int64_t number);

struct Task {
  std::string name;
  ModuleSource payload; // StableHLO with static shapes; what it computes is what is right
  std::string entry;    // the function; "" when there is only one
  std::vector<Candidate> candidates;
  SearchSpace searchSpace = SearchSpace::Small;
  // Of results, relative to each tensor's magnitude; absent for what the element type allows (see
  // compare.h).
  std::optional<double> tolerance;
};

// From a .json file (docs/tuning.md has its members; the files that it names are beside it), or
// from a module, which becomes a task with the defaults. Throws UsageError for a file that is no
// task, ItemError for one that cannot be read.
Task readTask(const std::string& path);

} // namespace nocturne::compiler
