// Traits of elementwise operations: how operand and result types relate.

#pragma once

#include "mlir/IR/OpDefinition.h"

namespace nocturne::stablehlo {

namespace detail {
mlir::LogicalResult verifyCompatibleShapes(mlir::Operation* op);
mlir::LogicalResult verifySameElementTypes(mlir::Operation* op);
} // namespace detail

template <typename ConcreteType>
class CompatibleShapes : public mlir::OpTrait::TraitBase<ConcreteType, CompatibleShapes> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation* op) {
    return detail::verifyCompatibleShapes(op);
  }
};

template <typename ConcreteType>
class SameElementTypes : public mlir::OpTrait::TraitBase<ConcreteType, SameElementTypes> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation* op) {
    return detail::verifySameElementTypes(op);
  }
};

} // namespace nocturne::stablehlo
