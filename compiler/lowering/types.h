// How StableHLO's types are held in the lowered code.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Transforms/DialectConversion.h"

namespace nocturne::compiler {

// Integers lose their sign (operations carry it from then on), booleans stay i1, and bf16 and
// floats that LLVM does not know (f8, f6 and f4 kinds) become integers of the same width, held in
// at least 8 bits. Everything else stays what it is. Tensors must have a static shape.
class LoweringTypes : public mlir::TypeConverter {
public:
  LoweringTypes();
};

// What an element of type `element` is held as.
mlir::Type storageType(mlir::Type element);

// The type in which arithmetic on `element` is done: f32 for every float narrower than f32,
// storageType() for all others.
mlir::Type computeType(mlir::Type element);

// Of integers without a sign and booleans.
bool isUnsigned(mlir::Type element);

// A held value as one of computeType(), and back; `element` is the StableHLO element type. Both are
// the identity where the types agree. Narrowing rounds to nearest even as StableHLO's convert does.
mlir::Value decode(mlir::OpBuilder& builder, mlir::Location loc, mlir::Type element,
                   mlir::Value stored);
mlir::Value encode(mlir::OpBuilder& builder, mlir::Location loc, mlir::Type element,
                   mlir::Value computed);

} // namespace nocturne::compiler
