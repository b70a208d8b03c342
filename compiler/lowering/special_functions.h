// Special functions of one or two real numbers, computed in f64: `math` must be of that type.
#pragma once

#include "compiler/lowering/float_math.h"

namespace nocturne::compiler {

mlir::Value besselI1e(const FloatMath& math, mlir::Value x); // e^-|x| I1(x)
mlir::Value digamma(const FloatMath& math, mlir::Value x);   // NaN at its poles
mlir::Value inverseErf(const FloatMath& math, mlir::Value x);
mlir::Value logGamma(const FloatMath& math, mlir::Value x); // of |gamma(x)|
mlir::Value polygamma(const FloatMath& math, mlir::Value order, mlir::Value x);
mlir::Value hurwitzZeta(const FloatMath& math, mlir::Value x, mlir::Value q);

} // namespace nocturne::compiler
