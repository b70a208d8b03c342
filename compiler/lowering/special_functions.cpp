#include "compiler/lowering/special_functions.h"

#include <array>
#include <numbers>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// Chebyshev coefficients of e^-x I1(x) / x for 0 <= x <= 8 in the variable x / 4 - 1, and of
// sqrt(x) e^-x I1(x) for x >= 8 in 16 / x - 1, each summed with half of the first coefficient. They
// were computed from the functions' values at 80 Chebyshev nodes with 40 digits; the intervals are
// those of Clenshaw, Chebyshev Series for Mathematical Functions (1962).
constexpr std::array kBesselI1eSmall = {
    0.252587186443633655,     -0.176416518357834055,    0.102643658689847095,
    -0.0529459812080949914,   0.0247264490306265168,    -0.0105640848946261982,
    0.00415642294431288816,   -0.00151357245063125315,  0.000512285956168575773,
    -0.000161760815825896746, 0.0000478156510755005423, -0.0000132731636560394358,
    3.47025130813767848e-6,   -8.56872026469545474e-7,  2.00329475355213526e-7,
    -4.44505912879632808e-8,  9.38153738649577178e-9,   -1.88724975172282929e-9,
    3.62559028155211704e-10,  -6.66348972350202774e-11, 1.17361862988909016e-11,
    -1.98397439776494372e-12, 3.22379336594557471e-13,  -5.04218550472791169e-14,
    7.60068429473540693e-15,  -1.10559694773538631e-15, 1.55363195773620047e-16,
    -2.11142121435816608e-17, 2.77791411276104637e-18,
};
constexpr std::array kBesselI1eLarge = {
    0.77857623501828012,      -0.00976109749136146841,  -0.000110588938762623716,
    -3.88256480887769039e-6,  -2.51223623787020893e-7,  -2.63146884688951951e-8,
    -3.83538038596423702e-9,  -5.58974346219658381e-10, -1.89749581235054123e-11,
    3.25260358301548824e-11,  1.41258074366137813e-11,  2.03562854414708951e-12,
    -7.19855177624590851e-13, -4.08355111109219732e-13, -2.10154184277266431e-14,
    4.27244001671195135e-14,  1.04202769841288028e-14,  -3.8144030724370078e-15,
    -1.88035477551078245e-15, 3.30820231092092828e-16,  2.96262899764595014e-16,
    -3.20952592199342396e-17, -4.65030536848935833e-17, 4.41434832307170795e-18,
    7.51729631084210481e-18,  -1.24219327519489096e-18,
};

// B(2k) / (2k) for k = 8 .. 1, where B are Bernoulli's numbers.
constexpr std::array kDigammaSeries = {
    -0.443259803921568627,   0.0833333333333333333,   -0.0210927960927960928,
    0.00757575757575757576,  -0.00416666666666666667, 0.00396825396825396825,
    -0.00833333333333333333, 0.0833333333333333333,
};

// B(2k) / (2k)! for k = 1 .. 12.
constexpr std::array kEulerMaclaurin = {
    0.0833333333333333333,    -0.00138888888888888889,  0.0000330687830687830688,
    -8.2671957671957672e-7,   2.0876756987868099e-8,    -5.28419013868749318e-10,
    1.33825365306846788e-11,  -3.38968029632258287e-13, 8.58606205627784456e-15,
    -2.17486869855806187e-16, 5.50900282836022952e-18,  -1.39544646858125233e-19,
};

// inverse erf(x) / x as polynomials (highest power first) in w - 2.5 for w = -log(1 - x^2) < 5 and
// in sqrt(w) - 4.168033989 beyond; the split is that of Giles, Approximating the erfinv Function
// (2010). Fitted at Chebyshev nodes, with relative errors below 2e-7 and 3e-6.
constexpr std::array kInverseErfCentre = {
    2.32858445e-8,  3.42524857e-7,  -3.46335617e-6, -4.38363159e-6, 0.000218346915,
    -0.00125374861, -0.00417738976, 0.246640758,    1.50140936,
};
constexpr double kInverseErfTailCentre = 4.168033989;
constexpr std::array kInverseErfTail = {
    -2.79056735e-6, 1.67858525e-5,   -3.20926542e-5, 1.97021458e-5, -4.05350725e-5,
    0.000240337811, -0.000709419966, 0.000875411272, 1.00985418,    4.00944415,
};

// Clenshaw's recurrence at x in [-1, 1].
Value chebyshev(const FloatMath& math, Value x, ArrayRef<double> coefficients) {
  Value twiceX = math.mul(math.constant(2), x);
  Value next = math.constant(0);
  Value afterNext = math.constant(0);
  for (double coefficient : llvm::reverse(coefficients.drop_front())) {
    Value constant = math.constant(coefficient);
    Value current = math.add(math.sub(math.mul(twiceX, next), afterNext), constant);
    afterNext = next;
    next = current;
  }
  Value half = math.constant(0.5 * coefficients.front());
  return math.add(math.sub(math.mul(x, next), afterNext), half);
}

using Step = llvm::function_ref<SmallVector<Value>(ValueRange)>;

// while (state[0] < limit) state = step(state).
SmallVector<Value> loopBelow(const FloatMath& math, ValueRange state, Value limit, Step step) {
  auto loop = scf::WhileOp::create(
      math.builder(), math.loc(), state.getTypes(), state,
      [&](OpBuilder& builder, Location loc, ValueRange values) {
        scf::ConditionOp::create(builder, loc, math.less(values[0], limit), values);
      },
      [&](OpBuilder& builder, Location loc, ValueRange values) {
        scf::YieldOp::create(builder, loc, step(values));
      });
  return SmallVector<Value>(loop.getResults());
}

} // namespace

Value besselI1e(const FloatMath& math, Value x) {
  Value magnitude = math.apply<math::AbsFOp>(x);
  Value one = math.constant(1);
  Value u = math.sub(math.mul(magnitude, math.constant(0.25)), one);
  Value small = math.mul(magnitude, chebyshev(math, u, kBesselI1eSmall));
  Value v = math.sub(math.div(math.constant(16), magnitude), one);
  Value large = math.div(chebyshev(math, v, kBesselI1eLarge), math.apply<math::SqrtOp>(magnitude));
  Value isSmall = math.less(magnitude, math.constant(8));
  return math.apply<math::CopySignOp>(math.select(isSmall, small, large), x);
}

// Below 0 by the reflection formula; up to 10 by psi(x) = psi(x + 1) - 1 / x; from there by the
// asymptotic series (Abramowitz and Stegun, 6.3.5, 6.3.7 and 6.3.18).
Value digamma(const FloatMath& math, Value x) {
  Value zero = math.constant(0);
  Value one = math.constant(1);
  Value isNegative = math.less(x, zero);
  Value start = math.select(isNegative, math.sub(one, x), x);
  auto shifted = loopBelow(math, {start, zero}, math.constant(10),
                           [&](ValueRange state) -> SmallVector<Value> {
                             Value y = state[0];
                             return {math.add(y, one), math.sub(state[1], math.div(one, y))};
                           });
  Value y = shifted[0];
  Value inverse = math.div(one, y);
  Value square = math.mul(inverse, inverse);
  Value series = math.mul(square, math.polynomial(square, kDigammaSeries));
  Value tail = math.add(math.mul(math.constant(0.5), inverse), series);
  Value positive = math.add(shifted[1], math.sub(math.apply<math::LogOp>(y), tail));

  // The tangent has period 1 in x; without its whole part x keeps its digits.
  Value pi = math.constant(std::numbers::pi);
  Value fraction = math.sub(x, math.apply<math::RoundEvenOp>(x));
  Value reflection = math.div(pi, math.apply<math::TanOp>(math.mul(pi, fraction)));
  Value result = math.select(isNegative, math.sub(positive, reflection), positive);
  Value isPole = math.both(math.compare(arith::CmpFPredicate::OLE, x, zero),
                           math.equal(x, math.apply<math::FloorOp>(x)));
  return math.select(isPole, math.nan(), result);
}

// A first approximation and one step of Halley's method, which triples its digits. The residual is
// taken from erfc above 1/2, where erf has few digits left.
Value inverseErf(const FloatMath& math, Value x) {
  Value one = math.constant(1);
  Value magnitude = math.apply<math::AbsFOp>(x);
  Value complement = math.sub(one, magnitude);
  Value w = math.neg(math.apply<math::LogOp>(math.mul(complement, math.add(one, magnitude))));
  Value centre = math.polynomial(math.sub(w, math.constant(2.5)), kInverseErfCentre);
  Value root = math.sub(math.apply<math::SqrtOp>(w), math.constant(kInverseErfTailCentre));
  Value tail = math.polynomial(root, kInverseErfTail);
  Value isCentral = math.less(w, math.constant(5));
  Value y = math.mul(magnitude, math.select(isCentral, centre, tail));

  Value residual = math.select(math.less(magnitude, math.constant(0.5)),
                               math.sub(math.apply<math::ErfOp>(y), magnitude),
                               math.sub(complement, math.apply<math::ErfcOp>(y)));
  // The slope of erf is 2 / sqrt(pi) e^(-y^2).
  Value inverseSlope = math.mul(math.constant(1 / (2 * std::numbers::inv_sqrtpi)),
                                math.apply<math::ExpOp>(math.mul(y, y)));
  Value newton = math.mul(residual, inverseSlope);
  Value halley = math.div(newton, math.fma(y, newton, one));
  Value result = math.sub(y, halley);
  result = math.select(math.equal(magnitude, one), math.infinity(), result);
  return math.apply<math::CopySignOp>(result, x);
}

Value logGamma(const FloatMath& math, Value x) {
  return math.libm("lgamma", x)[0];
}

// The sum over k >= 0 of (q + k)^-x: a first part of it, and the rest by the formula of Euler and
// Maclaurin. Infinite at x = 1, and at the poles q = 0, -1, .. for even x; NaN for x below 1, at
// the poles for other x, and for negative q and fractional x.
Value hurwitzZeta(const FloatMath& math, Value x, Value q) {
  Value zero = math.constant(0);
  Value one = math.constant(1);
  Value minusX = math.neg(x);
  // Terms are added up to a q of 10; a limit keeps this finite for very negative q.
  Value terms = math.select(math.less(q, zero), math.sub(math.constant(10), q), math.constant(10));
  terms = math.apply<arith::MinNumFOp>(terms, math.constant(65536));
  auto summed = loopBelow(math, {zero, zero}, terms, [&](ValueRange state) -> SmallVector<Value> {
    Value term = math.apply<math::PowFOp>(math.add(q, state[0]), minusX);
    return {math.add(state[0], one), math.add(state[1], term)};
  });
  Value a = math.add(q, summed[0]);
  Value last = math.apply<math::PowFOp>(a, minusX);
  Value sum = math.add(summed[1], math.div(math.mul(last, a), math.sub(x, one)));
  sum = math.fma(math.constant(0.5), last, sum);
  Value factor = math.div(math.mul(last, x), a); // a^-x x (x + 1) .. (x + 2k) a^-(2k + 1)
  Value square = math.mul(a, a);
  for (auto [k, coefficient] : llvm::enumerate(kEulerMaclaurin)) {
    sum = math.fma(math.constant(coefficient), factor, sum);
    double next = 2.0 * static_cast<double>(k) + 1;
    Value rising = math.mul(math.add(x, math.constant(next)), math.add(x, math.constant(next + 1)));
    factor = math.div(math.mul(factor, rising), square);
  }

  auto isWhole = [&](Value y) { return math.equal(y, math.apply<math::FloorOp>(y)); };
  Value isEven = isWhole(math.mul(x, math.constant(0.5)));
  Value atPole = math.select(isEven, math.infinity(), math.nan());
  Value left = math.select(isWhole(q), atPole, math.select(isWhole(x), sum, math.nan()));
  Value result = math.select(math.compare(arith::CmpFPredicate::OLE, q, zero), left, sum);
  result = math.select(math.less(x, one), math.nan(), result);
  return math.select(math.equal(x, one), math.infinity(), result);
}

// (-1)^(n + 1) n! zeta(n + 1, x) for n = 1, 2, ..
Value polygamma(const FloatMath& math, Value order, Value x) {
  Value zero = math.constant(0);
  Value one = math.constant(1);
  Value next = math.add(order, one);
  Value size = math.mul(math.libm("tgamma", next)[0], hurwitzZeta(math, next, x));
  Value half = math.mul(order, math.constant(0.5));
  Value isEven = math.equal(half, math.apply<math::FloorOp>(half));
  Value result = math.select(isEven, math.neg(size), size);
  Value isOrder = math.both(math.compare(arith::CmpFPredicate::OLE, zero, order),
                            math.equal(order, math.apply<math::FloorOp>(order)));
  result = math.select(isOrder, result, math.nan());
  return math.select(math.equal(order, zero), digamma(math, x), result);
}

} // namespace nocturne::compiler
