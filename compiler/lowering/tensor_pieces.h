// Small pieces of tensor code that several families emit.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nocturne::compiler {

// The element type of a shaped type, any other type itself.
mlir::Type elementTypeOf(mlir::Type type);

// Zero of a held type: an integer, a float or a complex number; false for booleans.
mlir::Value zeroOf(mlir::OpBuilder& builder, mlir::Location loc, mlir::Type held);
// One likewise; true for booleans.
mlir::Value oneOf(mlir::OpBuilder& builder, mlir::Location loc, mlir::Type held);

// A tensor that has `scalar` everywhere.
mlir::Value filled(mlir::OpBuilder& builder, mlir::Location loc, llvm::ArrayRef<int64_t> shape,
                   mlir::Value scalar);

// A tensor of the operands' shape; `emit` gives one element of it from one of each operand.
using ElementEmitter = llvm::function_ref<mlir::Value(mlir::OpBuilder&, mlir::ValueRange)>;
mlir::Value mapElements(mlir::OpBuilder& builder, mlir::Location loc, mlir::ValueRange operands,
                        mlir::Type resultElement, ElementEmitter emit);

// A held value of StableHLO type `from` as a held value of type `to`, as StableHLO's convert does.
// `op` is the operation that asks. Null where there is no conversion.
mlir::Value convertScalar(mlir::OpBuilder& builder, mlir::Location loc, mlir::Operation* op,
                          mlir::Type from, mlir::Type to, mlir::Value held);

// The same for a tensor; the identity where the types are equal.
mlir::Value convertTensor(mlir::OpBuilder& builder, mlir::Location loc, mlir::Operation* op,
                          mlir::Type from, mlir::Type to, mlir::Value tensor);

// The same elements in the same order under another static shape: a view.
mlir::Value reshaped(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value tensor,
                     llvm::ArrayRef<int64_t> shape);

// What StableHLO's pad does along one dimension; `low` and `high` may be negative, `interior` is
// the number of elements put between two.
struct PadDim {
  int64_t low = 0, high = 0, interior = 0;

  int64_t paddedSize(int64_t size) const {
    return low + high + size + (size > 0 ? (size - 1) * interior : 0);
  }
};
mlir::Value padded(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value tensor,
                   llvm::ArrayRef<PadDim> dims, mlir::Value scalar);

} // namespace nocturne::compiler
