// Which branches run, and how large the table of a module will be: both decided by arithmetic
// before anything is expanded.
#pragma once

#include "llvm/ADT/DenseMap.h"

#include "compiler/reader/call_graph.h"
#include "compiler/reader/distinct.h"
#include "compiler/reader/reader.h"
#include "compiler/reader/trip_count.h"

namespace nocturne::compiler {

// Tables above this are refused: of rows, and of value numbers in them.
inline constexpr uint64_t kMaxRows = 10'000'000;
inline constexpr uint64_t kMaxValueIds = 200'000'000;

class Branches {
public:
  Branches(OpKinds& kinds, const CallGraph& calls, DistinctOps& distinct, TripCounts& trips,
           const ReaderOptions& options)
      : kinds_(kinds), calls_(calls), distinct_(distinct), trips_(trips), options_(options) {}

  // The regions of an if or case that become rows.
  llvm::SmallVector<mlir::Region*, 2> taken(mlir::Operation* branch);

  // Compares the sizes of all tables with the limits; on failure `failedAt` is the function's first
  // call that exceeds them.
  mlir::LogicalResult checkSizes(mlir::Operation*& failedAt);

  // How many calls of a function checkSizes() saw in what becomes rows.
  unsigned callsTaken(mlir::Operation* function) const { return callsTaken_.lookup(function); }

private:
  // What one run costs, roughly: enough to tell a branch that works from one that does not.
  struct Work {
    double flops = 0, bytes = 0;
    bool operator<(const Work& other) const {
      return flops != other.flops ? flops < other.flops : bytes < other.bytes;
    }
  };
  struct Size {
    uint64_t rows = 0, valueIds = 0;
    bool tooLarge() const { return rows > kMaxRows || valueIds > kMaxValueIds; }
  };

  Work workOf(mlir::Region& region);
  Work workOf(mlir::Operation* op);
  Work workOfRow(mlir::Operation* op);
  bool addSize(mlir::Region& region, Size& size, mlir::Operation*& failedAt);

  OpKinds& kinds_;
  const CallGraph& calls_;
  DistinctOps& distinct_;
  TripCounts& trips_;
  const ReaderOptions& options_;
  llvm::DenseMap<mlir::Region*, Work> work_;
  llvm::DenseMap<mlir::Operation*, Size> sizes_; // of functions
  llvm::DenseMap<mlir::Operation*, unsigned> callsTaken_;
};

} // namespace nocturne::compiler
