// How often a counted loop runs, read off the program as lax.scan, lax.map and fori_loop write it.
#pragma once

#include <optional>

#include "compiler/reader/call_graph.h"

namespace nocturne::compiler {

// Derives the trip count of a while whose condition compares a counter with a bound, whose body
// adds a constant to the counter, and whose bound and start are constants, also through
// conversions, reshapes, simple integer arithmetic, loop-invariant values and calls.
class TripCounts {
public:
  TripCounts(OpKinds& kinds, const CallGraph& calls) : kinds_(kinds), calls_(calls) {}

  // Nothing where it cannot be told, or where the loop would not end.
  std::optional<double> of(mlir::Operation* loop);

private:
  // The call through which the body of a function is looked at, and the same for that call; null
  // where a value has to hold for all calls.
  struct Frame {
    mlir::Operation* call;
    const Frame* outer;
  };
  // An offset, added to the loop's variable if `counter` is set.
  struct Linear {
    bool counter = false;
    int64_t offset = 0;
  };
  struct Comparison {
    std::string direction;
    mlir::Value lhs, rhs;
  };

  std::optional<Comparison> comparisonOf(mlir::Value condition);
  std::optional<int64_t> constant(mlir::Value value, const Frame* frame, unsigned depth);
  std::optional<Linear> linear(mlir::Value value, mlir::Value variable, const Frame* frame,
                               unsigned depth);
  std::optional<Linear> argument(mlir::BlockArgument value, mlir::Value variable,
                                 const Frame* frame, unsigned depth);
  std::optional<Linear> invariantOf(mlir::Operation* loop, unsigned index, const Frame* frame,
                                    unsigned depth);
  std::optional<Linear> parameterOf(mlir::Operation* function, unsigned index, mlir::Value variable,
                                    const Frame* frame, unsigned depth);
  std::optional<Linear> arithmetic(mlir::Operation* op, mlir::Value variable, const Frame* frame,
                                   unsigned depth);

  OpKinds& kinds_;
  const CallGraph& calls_;
  unsigned steps_ = 0; // taken for the current loop
};

// The same arithmetic on numbers: how often `i = start; while (i <direction> bound) i += step`
// runs.
std::optional<double> countTrips(llvm::StringRef direction, int64_t start, int64_t bound,
                                 int64_t step);

} // namespace nocturne::compiler
