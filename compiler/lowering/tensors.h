// Small pieces of tensor code that the patterns of several families build.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include "compiler/lowering/types.h"

namespace nocturne::compiler {

mlir::Value emptyTensor(mlir::OpBuilder& builder, mlir::Location loc, mlir::RankedTensorType type);

// The element of a tensor of rank 0.
mlir::Value scalarOf(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value tensor);

// `scalar`, a held integer, as an index that is at most `most` and at least 0; `noSign` tells how
// it is read.
mlir::Value clampedIndex(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value scalar,
                         bool noSign, int64_t most);

// A tensor of `type` whose element at each place is what `body` makes of the inputs' elements
// that `maps` say; the maps' dimensions are those of the result.
mlir::Value elementwiseTensor(
    mlir::OpBuilder& builder, mlir::Location loc, mlir::RankedTensorType type,
    mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> maps,
    llvm::function_ref<mlir::Value(mlir::OpBuilder&, mlir::Location, mlir::ValueRange)> body);

// The element type of a shaped type, any other type itself.
mlir::Type elementTypeOf(mlir::Type type);
llvm::ArrayRef<int64_t> shapeOf(mlir::Value tensor);

// Offsets, sizes or strides of a slice.
llvm::SmallVector<mlir::OpFoldResult> indexAttrs(mlir::OpBuilder& builder,
                                                 llvm::ArrayRef<int64_t> numbers);
// The slice of these sizes that begins with the first element.
mlir::Value firstPart(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value tensor,
                      llvm::ArrayRef<int64_t> sizes);

// Zero of a held type: an integer, a float or a complex number; false for booleans.
mlir::Value zeroOf(mlir::OpBuilder& builder, mlir::Location loc, mlir::Type held);
// One likewise; true for booleans.
mlir::Value oneOf(mlir::OpBuilder& builder, mlir::Location loc, mlir::Type held);

// A tensor that has `scalar` everywhere.
mlir::Value filled(mlir::OpBuilder& builder, mlir::Location loc, llvm::ArrayRef<int64_t> shape,
                   mlir::Value scalar);

// A new tensor, each element of which `emit` makes from the elements of `inputs` at its place.
using ElementEmitter = llvm::function_ref<mlir::Value(mlir::OpBuilder&, mlir::ValueRange)>;
mlir::Value mapElements(mlir::OpBuilder& builder, mlir::Location loc, llvm::ArrayRef<int64_t> shape,
                        mlir::Type element, mlir::ValueRange inputs, ElementEmitter emit);

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

// The held type of result `index`, or null after an error at the operation if it has none, as
// happens when its shape is not known.
mlir::RankedTensorType heldResultType(const mlir::TypeConverter& types, mlir::Operation* op,
                                      unsigned index = 0);

} // namespace nocturne::compiler
