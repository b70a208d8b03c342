// Small pieces of tensor code that the patterns of several families build.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include "compiler/lowering/types.h"

namespace nocturne::compiler {

mlir::Value emptyTensor(mlir::OpBuilder& builder, mlir::Location loc, mlir::RankedTensorType type);

// A tensor of `type` with `scalar` everywhere.
mlir::Value filledTensor(mlir::OpBuilder& builder, mlir::Location loc, mlir::RankedTensorType type,
                         mlir::Value scalar);

// The element of a tensor of rank 0.
mlir::Value scalarOf(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value tensor);

// `scalar`, a held integer, as an index that is at most `most` and at least 0; `noSign` tells how
// it is read.
mlir::Value clampedIndex(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value scalar,
                         bool noSign, int64_t most);

// The same elements in the same order with the shape of `type`. Only ever a view.
mlir::Value reshapeTensor(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value tensor,
                          mlir::RankedTensorType type);

// A tensor of `type` whose element at each place is what `body` makes of the inputs' elements
// that `maps` say; the maps' dimensions are those of the result.
mlir::Value elementwiseTensor(
    mlir::OpBuilder& builder, mlir::Location loc, mlir::RankedTensorType type,
    mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> maps,
    llvm::function_ref<mlir::Value(mlir::OpBuilder&, mlir::Location, mlir::ValueRange)> body);

// The held type of result `index`, or null after an error at the operation if it has none, as
// happens when its shape is not known.
mlir::RankedTensorType heldResultType(const mlir::TypeConverter& types, mlir::Operation* op,
                                      unsigned index = 0);

} // namespace nocturne::compiler
