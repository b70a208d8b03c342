// Running a module: compile, load, call, compare.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/codegen/compile_options.h"
#include "compiler/execution/tensor_data.h"

namespace nocturne::compiler {

// How running a program ended.
enum class Outcome : uint8_t {
  Pass,       // all its checks hold
  Ran,        // it has no checks
  Mismatch,   // a check does not hold
  NoLowering, // an operation cannot be compiled
  Unreadable, // no module that can be run
  Failed,     // a fault of ours, or of an external program
  Crash,      // the process that ran it died
  Timeout,    // it took longer than it may
};
std::string_view toString(Outcome outcome); // "pass", "no lowering", ...
constexpr size_t kOutcomes = size_t(Outcome::Timeout) + 1;

struct ProgramOptions {
  CompileOptions compile;
  // What the entry function's own arguments are: none, one for all of them, or one for each.
  // "random", "random:SEED", "random:SEED:SCALE" (of fillRandom; 0 and 1 where left out), "zeros",
  // "ones", or a NumPy file.
  std::vector<std::string> inputs;
};

struct ProgramReport {
  Outcome outcome = Outcome::Failed;
  std::string message;                 // why, with its place; "" when all is well
  std::string blockedBy;               // the operation that cannot be compiled
  std::vector<std::string> operations; // of the tested function and what it calls, sorted
  std::vector<StageTime> times;        // of compilation, then "link" and "run"
  std::vector<TensorData> results;     // of the entry function
  // Of ModuleCode, if asked for.
  std::vector<std::pair<std::string, std::string>> stages;
};

// Runs the entry function of a module once and compares what its checks look at. Does not throw for
// anything that is wrong with the module; throws UsageError for inputs that do not fit and for
// values that no memory can hold.
ProgramReport runProgramText(std::string text, const std::string& path,
                             const ProgramOptions& options);

} // namespace nocturne::compiler
