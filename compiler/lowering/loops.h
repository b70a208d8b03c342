// Small pieces for lowerings that write loops and index arithmetic themselves.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "compiler/lowering/tensors.h"

namespace nocturne::compiler {

using Values = llvm::SmallVector<mlir::Value>;

inline mlir::Value indexConstant(mlir::OpBuilder& builder, mlir::Location loc, int64_t value) {
  return mlir::arith::ConstantIndexOp::create(builder, loc, value);
}

// An integer of StableHLO's type `element` as an index.
inline mlir::Value toIndex(mlir::OpBuilder& builder, mlir::Location loc, mlir::Type element,
                           mlir::Value stored) {
  mlir::Type index = builder.getIndexType();
  if (element.isIndex())
    return stored;
  if (element.isUnsignedInteger())
    return mlir::arith::IndexCastUIOp::create(builder, loc, index, stored);
  return mlir::arith::IndexCastOp::create(builder, loc, index, stored);
}

// A tensor without contents for loops to carry. Two of tensor.empty would be merged into one, and
// what the loops carry would then share a buffer.
inline mlir::Value emitScratch(mlir::OpBuilder& builder, mlir::Location loc,
                               llvm::ArrayRef<int64_t> shape, mlir::Type element) {
  auto type = mlir::RankedTensorType::get(shape, element);
  return mlir::bufferization::AllocTensorOp::create(builder, loc, type, mlir::ValueRange{});
}

// for (i = lower; i < upper; i += step) with values that one iteration hands to the next.
using LoopBody =
    llvm::function_ref<Values(mlir::OpBuilder&, mlir::Value index, mlir::ValueRange carried)>;
Values emitFor(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value lower, mlir::Value upper,
               mlir::Value step, mlir::ValueRange carried, LoopBody body);

// Loops from 0 to each of `extents`, the first one outermost.
using NestBody = llvm::function_ref<Values(mlir::OpBuilder&, mlir::ValueRange indices,
                                           mlir::ValueRange carried)>;
Values emitNest(mlir::OpBuilder& builder, mlir::Location loc, llvm::ArrayRef<int64_t> extents,
                mlir::ValueRange carried, NestBody body);

} // namespace nocturne::compiler
