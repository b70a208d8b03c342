// Arithmetic that is written once for real and complex elements.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace nocturne::compiler {

// A number taken apart; `im` is null for a real one.
struct Number {
  mlir::Value re, im;
};

// Emits arithmetic on numbers. A product or quotient of complex numbers is the textbook's: what
// infinities among the parts should give is left to elementwise operations, which promise it.
class Numbers {
public:
  Numbers(mlir::OpBuilder& builder, mlir::Location loc) : builder_(builder), loc_(loc) {}

  Number take(mlir::Value value) {
    if (!mlir::isa<mlir::ComplexType>(value.getType()))
      return {value, {}};
    return {mlir::complex::ReOp::create(builder_, loc_, value),
            mlir::complex::ImOp::create(builder_, loc_, value)};
  }
  mlir::Value put(const Number& number) {
    if (!number.im)
      return number.re;
    auto type = mlir::ComplexType::get(number.re.getType());
    return mlir::complex::CreateOp::create(builder_, loc_, type, number.re, number.im);
  }

  mlir::Value constant(mlir::Type real, double value) {
    return mlir::arith::ConstantOp::create(builder_, loc_, builder_.getFloatAttr(real, value));
  }
  mlir::Value plus(mlir::Value a, mlir::Value b) {
    return mlir::arith::AddFOp::create(builder_, loc_, a, b);
  }
  mlir::Value minus(mlir::Value a, mlir::Value b) {
    return mlir::arith::SubFOp::create(builder_, loc_, a, b);
  }
  mlir::Value times(mlir::Value a, mlir::Value b) {
    return mlir::arith::MulFOp::create(builder_, loc_, a, b);
  }
  mlir::Value over(mlir::Value a, mlir::Value b) {
    return mlir::arith::DivFOp::create(builder_, loc_, a, b);
  }
  mlir::Value negated(mlir::Value a) { return mlir::arith::NegFOp::create(builder_, loc_, a); }

  Number plus(const Number& a, const Number& b) {
    return {plus(a.re, b.re), a.im ? plus(a.im, b.im) : mlir::Value()};
  }
  Number minus(const Number& a, const Number& b) {
    return {minus(a.re, b.re), a.im ? minus(a.im, b.im) : mlir::Value()};
  }
  Number times(const Number& a, const Number& b) {
    if (!a.im)
      return {times(a.re, b.re), {}};
    return {minus(times(a.re, b.re), times(a.im, b.im)),
            plus(times(a.re, b.im), times(a.im, b.re))};
  }
  Number scaled(const Number& a, mlir::Value factor) {
    return {times(a.re, factor), a.im ? times(a.im, factor) : mlir::Value()};
  }
  Number conjugate(const Number& a) { return {a.re, a.im ? negated(a.im) : mlir::Value()}; }
  // Smith's method: divides by the larger part first, so that no square overflows.
  Number over(const Number& a, const Number& b);

private:
  mlir::OpBuilder& builder_;
  mlir::Location loc_;
};

inline Number Numbers::over(const Number& a, const Number& b) {
  using namespace mlir;
  if (!a.im)
    return {over(a.re, b.re), {}};
  Value absRe = math::AbsFOp::create(builder_, loc_, b.re);
  Value absIm = math::AbsFOp::create(builder_, loc_, b.im);
  Value reLarger = arith::CmpFOp::create(builder_, loc_, arith::CmpFPredicate::OGE, absRe, absIm);
  auto select = [&](Value yes, Value no) {
    return arith::SelectOp::create(builder_, loc_, reLarger, yes, no).getResult();
  };
  Value large = select(b.re, b.im), small = select(b.im, b.re);
  Value ratio = over(small, large);
  Value scale = plus(large, times(small, ratio));
  // (a.re + a.im r) / s and (a.im - a.re r) / s, or with the parts' roles exchanged.
  Value re = plus(select(a.re, times(a.re, ratio)), select(times(a.im, ratio), a.im));
  Value im = minus(select(a.im, times(a.im, ratio)), select(times(a.re, ratio), a.re));
  return {over(re, scale), over(im, scale)};
}

} // namespace nocturne::compiler
