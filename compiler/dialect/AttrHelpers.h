// Reading attributes whose kind changed between releases of the text, and telling element types
// apart. Everything that looks into the dialect's attributes goes through these.

#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

namespace nocturne::stablehlo {

// Predicates of the attribute constraints in Base.td.
bool isI64List(mlir::Attribute attr);
bool isI64Matrix(mlir::Attribute attr);
bool isBoolList(mlir::Attribute attr);
bool isFlag(mlir::Attribute attr);
bool isReplicaGroups(mlir::Attribute attr);

// The numbers of a list or matrix (row by row), whether stored as an array of i64, i32 or index or
// as dense elements; empty where there is none, or where it is neither.
llvm::SmallVector<int64_t> readI64List(mlir::Attribute attr);

// The same for an optional list that defaults to `count` times `value`, as strides and dilations
// do.
llvm::SmallVector<int64_t> readI64ListOr(mlir::Attribute attr, size_t count, int64_t value);

llvm::SmallVector<bool> readBoolList(mlir::Attribute attr);

// Present as a unit, or as `true`.
bool isFlagSet(mlir::Attribute attr);

// Predicates of the operand constraints in Base.td; `element` is a tensor's element type.
bool isBoolean(mlir::Type element);
bool isIntegral(mlir::Type element);
bool isIntegralOrIndex(mlir::Type element);
bool isFloatLike(mlir::Type element);
bool isFloatOrComplex(mlir::Type element);
bool isComplex(mlir::Type element);
bool isQuantized(mlir::Type element);

} // namespace nocturne::stablehlo
