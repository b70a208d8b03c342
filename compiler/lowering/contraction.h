// Sums of products, which dots and some convolutions are.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace nocturne::compiler {

// One loop for each different dimension; `lhs`, `rhs` and `result` name the loop of each of their
// dimensions. Loops without a place in the result are summed over.
struct Contraction {
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<unsigned> lhs, rhs, result;
};

// In which element type products of `lhs` and `rhs` are added up for a result of `result`: floats
// narrower than f32 in f32, all else in the result's type.
mlir::Type accumulationElement(mlir::Type lhs, mlir::Type rhs, mlir::Type result);

// sum + a * b on held values of one accumulation type; booleans are joined by or and and.
mlir::Value addProduct(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value sum, mlir::Value a,
                       mlir::Value b);

// The sum for operands of one accumulation type. What is a matrix product or a batch of them with
// rows before columns becomes linalg.matmul or linalg.batch_matmul, after dimensions that lie side
// by side everywhere were merged; the rest becomes a linalg.generic of a product and a sum.
mlir::Value emitContraction(mlir::OpBuilder& builder, mlir::Location loc,
                            const Contraction& contraction, mlir::Value lhs, mlir::Value rhs);

} // namespace nocturne::compiler
