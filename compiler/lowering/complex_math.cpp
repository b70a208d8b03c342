#include "compiler/lowering/complex_math.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// Doubles as sign, 11 bits of exponent and 52 bits of mantissa.
constexpr int64_t kExponentMask = 0x7ff;
constexpr int64_t kMantissaBits = 52;
constexpr int64_t kExponentBias = 1023;

struct Integers {
  OpBuilder& builder;
  Location loc;

  Value constant(int64_t value) const {
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
  }
  template <typename Op>
  Value apply(Value a, Value b) const {
    return Op::create(builder, loc, a, b);
  }
  Value minimum(Value a, Value b) const { return apply<arith::MinSIOp>(a, b); }

  // The biased exponent; that of infinity counts as that of the largest number.
  Value exponent(Value number) const {
    Value bits = arith::BitcastOp::create(builder, loc, builder.getI64Type(), number);
    Value shifted = apply<arith::ShRUIOp>(bits, constant(kMantissaBits));
    Value field = apply<arith::AndIOp>(shifted, constant(kExponentMask));
    // 2 ^ -1023 is no normal number: the largest numbers are left with a factor of two.
    return minimum(field, constant(kExponentMask - 2));
  }
  // 2 ^ (biased - 1023).
  Value powerOfTwo(Value biased) const {
    Value bits = apply<arith::ShLIOp>(biased, constant(kMantissaBits));
    return arith::BitcastOp::create(builder, loc, builder.getF64Type(), bits);
  }
};

} // namespace

ComplexParts ComplexMath::add(ComplexParts a, ComplexParts b) const {
  return {real.add(a.re, b.re), real.add(a.im, b.im)};
}

ComplexParts ComplexMath::mul(ComplexParts a, ComplexParts b) const {
  return {real.sub(real.mul(a.re, b.re), real.mul(a.im, b.im)),
          real.add(real.mul(a.re, b.im), real.mul(a.im, b.re))};
}

ComplexParts ComplexMath::select(Value condition, ComplexParts a, ComplexParts b) const {
  return {real.select(condition, a.re, b.re), real.select(condition, a.im, b.im)};
}

Value ComplexMath::isZero(ComplexParts a) const {
  Value zero = real.constant(0);
  return real.both(real.equal(a.re, zero), real.equal(a.im, zero));
}

Value ComplexMath::abs(ComplexParts a) const {
  if (!fromSingle)
    return real.libm("hypot", {a.re, a.im})[0];
  Value square = real.fma(a.re, a.re, real.mul(a.im, a.im));
  Value isInf = real.either(real.isInf(a.re), real.isInf(a.im));
  return real.select(isInf, real.infinity(), real.apply<math::SqrtOp>(square));
}

ComplexParts ComplexMath::libm(StringRef name, ComplexParts a) const {
  auto parts = real.libm(name, {a.re, a.im}, 2);
  return {parts[0], parts[1]};
}

// a * b + c * d within 1.5 units in the last place, whatever cancels (Kahan).
Value ComplexMath::sumOfProducts(Value a, Value b, Value c, Value d) const {
  Value product = real.mul(c, d);
  Value error = real.fma(c, d, real.neg(product));
  return real.add(real.fma(a, b, product), error);
}

ComplexParts ComplexMath::quotientOfScaled(ComplexParts a, ComplexParts b) const {
  Value denominator = real.fma(b.re, b.re, real.mul(b.im, b.im));
  Value re = sumOfProducts(a.re, b.re, a.im, b.im);
  Value im = sumOfProducts(a.im, b.re, real.neg(a.re), b.im);
  return {real.div(re, denominator), real.div(im, denominator)};
}

// What Annex G of the C standard says where both parts of the plain quotient are NaN: a number by
// zero and an infinity by a number are infinite, a number by an infinity is zero.
ComplexParts ComplexMath::quotientOfSpecial(ComplexParts a, ComplexParts b,
                                            ComplexParts plain) const {
  Value zero = real.constant(0);
  Value infinity = real.infinity();
  auto sign = [&](Value magnitude, Value of) {
    return real.apply<math::CopySignOp>(magnitude, of);
  };
  auto boxed = [&](Value x) { // infinities to ones, numbers to zeros
    return sign(real.select(real.isInf(x), real.constant(1), zero), x);
  };
  auto crossed = [&](ComplexParts x, ComplexParts y, Value factor) -> ComplexParts {
    Value re = real.add(real.mul(x.re, y.re), real.mul(x.im, y.im));
    Value im = real.sub(real.mul(x.im, y.re), real.mul(x.re, y.im));
    return {real.mul(factor, re), real.mul(factor, im)};
  };
  auto finite = [&](ComplexParts x) { return real.both(real.isFinite(x.re), real.isFinite(x.im)); };
  auto infinite = [&](ComplexParts x) { return real.either(real.isInf(x.re), real.isInf(x.im)); };
  ComplexParts boxedA{boxed(a.re), boxed(a.im)};
  ComplexParts boxedB{boxed(b.re), boxed(b.im)};
  ComplexParts byZero{real.mul(sign(infinity, b.re), a.re), real.mul(sign(infinity, b.re), a.im)};

  ComplexParts result = select(real.both(infinite(b), finite(a)), crossed(a, boxedB, zero), plain);
  result = select(real.both(infinite(a), finite(b)), crossed(boxedA, b, infinity), result);
  Value aHasNumber = real.negated(real.both(real.isNan(a.re), real.isNan(a.im)));
  result = select(real.both(isZero(b), aHasNumber), byZero, result);
  Value bothNan = real.both(real.isNan(plain.re), real.isNan(plain.im));
  return select(bothNan, result, plain);
}

ComplexParts ComplexMath::div(ComplexParts a, ComplexParts b) const {
  if (fromSingle)
    return quotientOfSpecial(a, b, quotientOfScaled(a, b));
  // Both are scaled by powers of two to parts near 1; the scale comes back in two halves, so that
  // neither of them overflows before the result does.
  Integers integers{real.builder(), real.loc()};
  auto largest = [&](ComplexParts x) {
    return integers.exponent(real.apply<arith::MaxNumFOp>(real.apply<math::AbsFOp>(x.re),
                                                          real.apply<math::AbsFOp>(x.im)));
  };
  auto scaled = [&](ComplexParts x, Value factor) -> ComplexParts {
    return {real.mul(x.re, factor), real.mul(x.im, factor)};
  };
  auto inverse = [&](Value exponent) {
    Value bias = integers.constant(2 * kExponentBias);
    return integers.powerOfTwo(integers.apply<arith::SubIOp>(bias, exponent));
  };
  Value exponentA = largest(a);
  Value exponentB = largest(b);
  ComplexParts quotient =
      quotientOfScaled(scaled(a, inverse(exponentA)), scaled(b, inverse(exponentB)));
  Value shift = integers.apply<arith::SubIOp>(exponentA, exponentB);
  Value half = integers.apply<arith::ShRSIOp>(shift, integers.constant(1));
  Value rest = integers.apply<arith::SubIOp>(shift, half);
  for (Value part : {half, rest}) {
    Value biased = integers.apply<arith::AddIOp>(part, integers.constant(kExponentBias));
    quotient = scaled(quotient, integers.powerOfTwo(biased));
  }
  return quotientOfSpecial(a, b, quotient);
}

} // namespace nocturne::compiler
