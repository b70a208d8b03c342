// The computation of a reduction, applied to held elements.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace nocturne::compiler {

// Made from the body of a reduce, reduce_window or select_and_scatter, whose arguments are one
// accumulator for each operand and then one value for each. A reduce that only adds or multiplies
// floats narrower than f32 accumulates in f32 and rounds once at the end, because its sums may be
// long and may be taken in any order; windows, whose order is fixed, round at every step as XLA and
// the interpreter of StableHLO do. Every other body rounds whenever it says so.
class Reducer {
public:
  // `op` has the region; `inputElements` are the StableHLO element types of its operands.
  Reducer(mlir::Operation* op, mlir::Block& body, llvm::ArrayRef<mlir::Type> inputElements);

  size_t count() const { return inputElements_.size(); }
  // The one operation of a body that returns a function of its two arguments; else null.
  static mlir::Operation* onlyOperation(mlir::Block& body);

  // What accumulator `i` is held as, and as what the result is held.
  mlir::Type accumulatorType(size_t i) const;
  mlir::Type resultType(size_t i) const;

  // The accumulators before the first value, from the initial values (held scalars).
  mlir::SmallVector<mlir::Value> begin(mlir::OpBuilder& builder, mlir::Location loc,
                                       mlir::ValueRange inits) const;
  // The accumulators after `values`; an error is emitted on failure.
  mlir::LogicalResult step(mlir::OpBuilder& builder, mlir::Location loc,
                           mlir::ValueRange accumulators, mlir::ValueRange values,
                           mlir::SmallVectorImpl<mlir::Value>& results) const;
  // An accumulator, or a tensor of them, as the result.
  mlir::Value finish(mlir::OpBuilder& builder, mlir::Location loc, size_t i,
                     mlir::Value accumulator) const;

private:
  mlir::Operation* op_;
  mlir::Block& body_;
  llvm::SmallVector<mlir::Type> inputElements_;
  mlir::Operation* wide_ = nullptr; // the addition or multiplication done in f32
};

// The scalars in tensors of rank 0.
mlir::SmallVector<mlir::Value> extractScalars(mlir::OpBuilder& builder, mlir::Location loc,
                                              mlir::ValueRange tensors);

} // namespace nocturne::compiler
