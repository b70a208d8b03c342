// Programs that check themselves, taken apart: what is tested, on what, and what is expected.
#pragma once

#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

#include "compiler/execution/check.h"

namespace nocturne::compiler {

// A result of the function `function`, which has no arguments.
struct SourceValue {
  std::string function;
  size_t result;
};

// A value of the run: an argument of the tested function, or one of its results.
struct CheckedValue {
  bool isArgument;
  size_t index;
};

struct ProgramCheck {
  Expectation expectation;
  CheckedValue got, expected;
  std::string text; // "check.expect_eq at file:line"
};

// The tested function after the split: first its own arguments and results, then those of the
// split.
struct SplitProgram {
  std::string function;
  size_t ownArguments = 0, ownResults = 0;
  std::vector<SourceValue> sources; // the further arguments
  std::vector<ProgramCheck> checks;
  std::vector<std::string> operations; // tested, sorted: "stablehlo.add"
};

// Changes `module` in place: calls in its entry function (main, or else the only public function)
// of functions without arguments become arguments, so that nothing of them can be folded into what
// is tested, and checks become results. Only the functions of the split stay public. Throws
// ItemError (unreadable) for a module without entry function and for checks that cannot be
// understood.
SplitProgram splitProgram(mlir::ModuleOp module);

} // namespace nocturne::compiler
