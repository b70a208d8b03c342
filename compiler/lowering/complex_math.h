// Arithmetic on complex numbers as pairs of doubles, for emitters of formulas.
#pragma once

#include "compiler/lowering/float_math.h"

namespace nocturne::compiler {

struct ComplexParts {
  mlir::Value re;
  mlir::Value im;
};

class ComplexMath {
public:
  // `single` says that all operands come from complex<f32>: then no square or product of two of
  // them leaves the range of a double.
  ComplexMath(const FloatMath& math, bool single) : real(math), fromSingle(single) {}

  ComplexParts add(ComplexParts a, ComplexParts b) const;
  ComplexParts mul(ComplexParts a, ComplexParts b) const;
  ComplexParts div(ComplexParts a, ComplexParts b) const;
  ComplexParts select(mlir::Value condition, ComplexParts a, ComplexParts b) const;
  mlir::Value isZero(ComplexParts a) const;
  mlir::Value abs(ComplexParts a) const;

  // A function of the C library from complex to complex, such as "cexp".
  ComplexParts libm(llvm::StringRef name, ComplexParts a) const;

  const FloatMath real; // of f64
  const bool fromSingle;

private:
  mlir::Value sumOfProducts(mlir::Value a, mlir::Value b, mlir::Value c, mlir::Value d) const;
  ComplexParts quotientOfScaled(ComplexParts a, ComplexParts b) const;
  ComplexParts quotientOfSpecial(ComplexParts a, ComplexParts b, ComplexParts finite) const;
};

} // namespace nocturne::compiler
