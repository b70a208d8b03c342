// Who calls whom, from the entry functions down.
#pragma once

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include "compiler/reader/op_kinds.h"
#include "engine/error.h"

namespace nocturne::compiler {

class CallGraph {
public:
  explicit CallGraph(OpKinds& kinds) : kinds_(kinds) {}

  // Visits everything that can be reached from `entries`. Fails on recursion, with the cycle, and
  // on chains of calls that no real program has; `failedAt` is the call to blame.
  mlir::LogicalResult build(llvm::ArrayRef<mlir::Operation*> entries, std::string& problem,
                            mlir::Operation*& failedAt);

  // The function that a call or composite stands for; null for anything else, and for functions
  // without a body.
  mlir::Operation* callee(mlir::Operation* call) const { return callees_.lookup(call); }
  // The calls of a function that were reached.
  llvm::ArrayRef<mlir::Operation*> callsTo(mlir::Operation* function) const;
  bool isEntry(mlir::Operation* function) const { return llvm::is_contained(entries_, function); }
  // Every reached function, callees before their callers.
  llvm::ArrayRef<mlir::Operation*> calleesFirst() const { return order_; }
  bool hasBranches() const { return hasBranches_; }

private:
  struct Frame;
  void enter(mlir::Operation* function, llvm::SmallVectorImpl<Frame>& stack);
  mlir::Operation* resolve(mlir::Operation* call, const OpKind& kind);

  OpKinds& kinds_;
  mlir::SymbolTableCollection symbols_;
  llvm::SmallVector<mlir::Operation*> entries_;
  llvm::DenseMap<mlir::Operation*, mlir::Operation*> callees_;
  llvm::DenseMap<mlir::Operation*, llvm::SmallVector<mlir::Operation*, 1>> callers_;
  llvm::SmallVector<mlir::Operation*> order_;
  bool hasBranches_ = false;
};

} // namespace nocturne::compiler
