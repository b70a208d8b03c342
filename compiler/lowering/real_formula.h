// Emitters made of formulas for real numbers.
#pragma once

#include "mlir/IR/BuiltinTypes.h"

#include "compiler/lowering/float_math.h"
#include "compiler/lowering/scalars.h"

namespace nocturne::compiler {

using RealFormula = mlir::Value (*)(const FloatMath& math, mlir::ValueRange operands);

// `formula` in the type of the operands; complex ones go to complexEmitter(), and any other kind
// has no value.
template <RealFormula formula>
mlir::Value emitReal(mlir::OpBuilder& builder, mlir::Location loc, const ScalarCall& call) {
  mlir::Type type = call.operands.front().getType();
  if (mlir::isa<mlir::ComplexType>(type))
    return emitComplex(builder, loc, call);
  auto real = mlir::dyn_cast<mlir::FloatType>(type);
  return real ? formula(FloatMath(builder, loc, call.op, real), call.operands) : mlir::Value();
}

} // namespace nocturne::compiler
