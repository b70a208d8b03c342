// Elementary functions of complex numbers. All are computed in doubles, with which the results for
// complex<f32> are correctly rounded almost everywhere and nothing overflows on the way; libm's
// functions have the branch cuts and the special values of Annex G of the C standard.
#include "compiler/lowering/scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"

#include "compiler/lowering/complex_math.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

using ComplexFormula = ComplexParts (*)(const ComplexMath& math, ArrayRef<ComplexParts> operands);

ComplexMath mathFor(OpBuilder& builder, Location loc, const ScalarCall& call, Type element) {
  FloatMath real(builder, loc, call.op, builder.getF64Type());
  return ComplexMath(real, cast<ComplexType>(element).getElementType().isF32());
}

ComplexParts takeApart(const ComplexMath& math, Value number) {
  OpBuilder& builder = math.real.builder();
  Location loc = math.real.loc();
  return {math.real.enter(complex::ReOp::create(builder, loc, number)),
          math.real.enter(complex::ImOp::create(builder, loc, number))};
}

Value putTogether(const ComplexMath& math, ComplexParts parts, ComplexType type) {
  Value re = math.real.leave(parts.re, type.getElementType());
  Value im = math.real.leave(parts.im, type.getElementType());
  return complex::CreateOp::create(math.real.builder(), math.real.loc(), type, re, im);
}

template <ComplexFormula formula>
Value emit(OpBuilder& builder, Location loc, const ScalarCall& call) {
  auto type = dyn_cast<ComplexType>(call.operands.front().getType());
  if (!type)
    return {};
  ComplexMath math = mathFor(builder, loc, call, type);
  SmallVector<ComplexParts, 2> operands;
  for (Value operand : call.operands)
    operands.push_back(takeApart(math, operand));
  return putTogether(math, formula(math, operands), type);
}

// Operations that are one function of the C library.
const llvm::StringMap<StringRef>& libraryFunctions() {
  static const llvm::StringMap<StringRef> names = {
      {"exponential", "cexp"}, {"log", "clog"},     {"sqrt", "csqrt"},   {"sine", "csin"},
      {"cosine", "ccos"},      {"tan", "ctan"},     {"tanh", "ctanh"},   {"sinh", "csinh"},
      {"cosh", "ccosh"},       {"asin", "casin"},   {"acos", "cacos"},   {"atan", "catan"},
      {"asinh", "casinh"},     {"acosh", "cacosh"}, {"atanh", "catanh"},
  };
  return names;
}

Value emitLibrary(OpBuilder& builder, Location loc, const ScalarCall& call) {
  auto type = dyn_cast<ComplexType>(call.operands.front().getType());
  if (!type)
    return {};
  ComplexMath math = mathFor(builder, loc, call, type);
  StringRef name = libraryFunctions().lookup(call.op->getName().stripDialect());
  return putTogether(math, math.libm(name, takeApart(math, call.operands[0])), type);
}

Value emitAbs(OpBuilder& builder, Location loc, const ScalarCall& call) {
  auto type = dyn_cast<ComplexType>(call.operands.front().getType());
  if (!type)
    return {};
  ComplexMath math = mathFor(builder, loc, call, type);
  return math.real.leave(math.abs(takeApart(math, call.operands[0])), call.resultElement);
}

ComplexParts conjugate(const ComplexMath& math, ArrayRef<ComplexParts> x) {
  return {x[0].re, math.real.neg(x[0].im)};
}

ComplexParts negate(const ComplexMath& math, ArrayRef<ComplexParts> x) {
  return {math.real.neg(x[0].re), math.real.neg(x[0].im)};
}

ComplexParts divide(const ComplexMath& math, ArrayRef<ComplexParts> x) {
  return math.div(x[0], x[1]);
}

ComplexParts square(const ComplexMath& math, ArrayRef<ComplexParts> x) {
  const FloatMath& real = math.real;
  auto [re, im] = x[0];
  return {real.mul(real.sub(re, im), real.add(re, im)),
          real.mul(real.mul(real.constant(2), re), im)};
}

// x / |x|; the parts are brought near 1 first, because |x| can leave the range of its parts.
ComplexParts sign(const ComplexMath& math, ArrayRef<ComplexParts> x) {
  const FloatMath& real = math.real;
  Value largest = real.apply<arith::MaximumFOp>(real.apply<math::AbsFOp>(x[0].re),
                                                real.apply<math::AbsFOp>(x[0].im));
  ComplexParts near{real.div(x[0].re, largest), real.div(x[0].im, largest)};
  Value length = real.apply<math::SqrtOp>(real.fma(near.re, near.re, real.mul(near.im, near.im)));
  ComplexParts unit{real.div(near.re, length), real.div(near.im, length)};
  return math.select(math.isZero(x[0]), x[0], unit);
}

// The conjugate of the root over its square's length; only that of finite numbers says anything.
ComplexParts reciprocalSquareRoot(const ComplexMath& math, ArrayRef<ComplexParts> x) {
  const FloatMath& real = math.real;
  ComplexParts one{real.constant(1), real.constant(0)};
  ComplexParts root = math.libm("csqrt", x[0]);
  ComplexParts quotient = math.div(one, root);
  if (math.fromSingle)
    return quotient;
  Value length = math.abs(x[0]);
  ComplexParts scaled{real.div(root.re, length), real.div(real.neg(root.im), length)};
  Value isPlain = real.both(real.less(real.constant(0), length), real.isFinite(length));
  return math.select(isPlain, scaled, quotient);
}

// The principal root: a third of the angle.
ComplexParts cubeRoot(const ComplexMath& math, ArrayRef<ComplexParts> x) {
  const FloatMath& real = math.real;
  Value length = real.apply<math::CbrtOp>(math.abs(x[0]));
  Value angle = real.div(real.apply<math::Atan2Op>(x[0].im, x[0].re), real.constant(3));
  return {real.mul(length, real.apply<math::CosOp>(angle)),
          real.mul(length, real.apply<math::SinOp>(angle))};
}

// Re(e^z - 1) = expm1(x) cos(y) - 2 sin(y / 2)^2 keeps its digits near z = 0.
ComplexParts expMinusOne(const ComplexMath& math, ArrayRef<ComplexParts> z) {
  const FloatMath& real = math.real;
  auto [x, y] = z[0];
  ComplexParts exponential = math.libm("cexp", z[0]);
  Value half = real.apply<math::SinOp>(real.mul(y, real.constant(0.5)));
  Value versine = real.mul(real.mul(real.constant(-2), half), half);
  Value re = real.fma(real.libm("expm1", x)[0], real.apply<math::CosOp>(y), versine);
  // From here on the one that is taken away is below the last digit, and expm1 may overflow.
  Value isLarge = real.less(real.constant(40), x);
  return {real.select(isLarge, exponential.re, re), exponential.im};
}

// |1 + z|^2 - 1 = 2 x + x^2 + y^2 in twice the digits of a double: the terms cancel along the
// circle of radius 1 around -1.
Value squaredLengthMinusOne(const FloatMath& real, Value x, Value y) {
  auto twoSum = [&](Value a, Value b) -> std::pair<Value, Value> { // Knuth's: sum and error
    Value sum = real.add(a, b);
    Value virtualB = real.sub(sum, a);
    Value virtualA = real.sub(sum, virtualB);
    return {sum, real.add(real.sub(a, virtualA), real.sub(b, virtualB))};
  };
  Value xx = real.mul(x, x);
  Value xxError = real.fma(x, x, real.neg(xx));
  Value yy = real.mul(y, y);
  Value yyError = real.fma(y, y, real.neg(yy));
  auto [first, firstError] = twoSum(real.mul(real.constant(2), x), yy);
  auto [sum, sumError] = twoSum(first, xx);
  Value error = real.add(real.add(firstError, sumError), real.add(xxError, yyError));
  return real.add(sum, error);
}

ComplexParts logPlusOne(const ComplexMath& math, ArrayRef<ComplexParts> z) {
  const FloatMath& real = math.real;
  auto [x, y] = z[0];
  ComplexParts plain = math.libm("clog", {real.add(x, real.constant(1)), y});
  Value excess = squaredLengthMinusOne(real, x, y);
  Value near = real.mul(real.constant(0.5), real.apply<math::Log1pOp>(excess));
  Value isNear = real.less(real.apply<math::AbsFOp>(excess), real.constant(0.75));
  return {real.select(isNear, near, plain.re), plain.im};
}

// 1 / (1 + e^-z), or e^z / (1 + e^z) where e^-z may overflow.
ComplexParts logistic(const ComplexMath& math, ArrayRef<ComplexParts> z) {
  const FloatMath& real = math.real;
  auto [x, y] = z[0];
  Value isNegative = real.less(x, real.constant(0));
  ComplexParts down{real.neg(real.apply<math::AbsFOp>(x)), real.select(isNegative, y, real.neg(y))};
  ComplexParts exponential = math.libm("cexp", down);
  ComplexParts one{real.constant(1), real.constant(0)};
  ComplexParts numerator = math.select(isNegative, exponential, one);
  return math.div(numerator, {real.add(exponential.re, one.re), exponential.im});
}

// e^(b log a); log 0 is minus infinity, whose product with a part that is zero is no number.
ComplexParts power(const ComplexMath& math, ArrayRef<ComplexParts> operands) {
  const FloatMath& real = math.real;
  ComplexParts base = operands[0];
  ComplexParts exponent = operands[1];
  Value zero = real.constant(0);
  ComplexParts result = math.libm("cexp", math.mul(exponent, math.libm("clog", base)));
  Value vanishes = real.both(math.isZero(base), real.less(zero, exponent.re));
  result = math.select(vanishes, {zero, zero}, result);
  return math.select(math.isZero(exponent), {real.constant(1), zero}, result);
}

// atan2(y, x) = -i log((x + i y) / sqrt(x^2 + y^2)).
ComplexParts angle(const ComplexMath& math, ArrayRef<ComplexParts> operands) {
  const FloatMath& real = math.real;
  ComplexParts y = operands[0];
  ComplexParts x = operands[1];
  ComplexParts sum{real.sub(x.re, y.im), real.add(x.im, y.re)};
  ComplexParts squares = math.add(math.mul(x, x), math.mul(y, y));
  ComplexParts log = math.libm("clog", math.div(sum, math.libm("csqrt", squares)));
  return {log.im, real.neg(log.re)};
}

// w for which asin z = (atan2(x, Re w), sign(y) Im w) and acos z = (atan2(Re w, x), -sign(y) Im w):
// Im w is |Im asin z|, and Re w = |x| cot |Re asin z|, which goes to sqrt(1 + y^2) at x = 0.
ComplexParts asinAcosKernel(const ComplexMath& math, ArrayRef<ComplexParts> z) {
  const FloatMath& real = math.real;
  Value x = real.apply<math::AbsFOp>(z[0].re);
  Value y = real.apply<math::AbsFOp>(z[0].im);
  ComplexParts inverse = math.libm("casin", {x, y});
  Value onAxis = math.abs({real.constant(1), y});
  Value re = real.div(x, real.apply<math::TanOp>(inverse.re));
  return {real.select(real.equal(x, real.constant(0)), onAxis, re), inverse.im};
}

const llvm::StringMap<ScalarEmitter>& emitters() {
  static const llvm::StringMap<ScalarEmitter> table = [] {
    llvm::StringMap<ScalarEmitter> all = {
        {"abs", emitAbs},
        {"atan2", emit<angle>},
        {"cbrt", emit<cubeRoot>},
        {"conj", emit<conjugate>},
        {"divide", emit<divide>},
        {"exponential_minus_one", emit<expMinusOne>},
        {"log_plus_one", emit<logPlusOne>},
        {"logistic", emit<logistic>},
        {"negate", emit<negate>},
        {"power", emit<power>},
        {"rsqrt", emit<reciprocalSquareRoot>},
        {"sign", emit<sign>},
        {"square", emit<square>},
        {"_asin_acos_kernel", emit<asinAcosKernel>},
    };
    for (const auto& function : libraryFunctions())
      all.try_emplace(function.getKey(), emitLibrary);
    return all;
  }();
  return table;
}

} // namespace

ScalarEmitter complexEmitter(StringRef name) {
  return emitters().lookup(name.rsplit('.').second.empty() ? name : name.rsplit('.').second);
}

Value emitComplex(OpBuilder& builder, Location loc, const ScalarCall& call) {
  ScalarEmitter emitter = complexEmitter(call.op->getName().stripDialect());
  return emitter ? emitter(builder, loc, call) : Value();
}

void addComplexMath(ScalarTable& table) {
  table.add("chlo._asin_acos_kernel", complexEmitter("_asin_acos_kernel"));
}

} // namespace nocturne::compiler
