// Elementary functions of real numbers. Those of one operation of the math dialect are left to code
// generation, which calls libm or an instruction; complex operands go to scalar_complex.cpp.
#include "compiler/lowering/scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"

#include "compiler/lowering/real_formula.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

template <typename Op>
Value unary(const FloatMath& math, ValueRange operands) {
  return math.apply<Op>(operands[0]);
}

template <typename Op>
Value binary(const FloatMath& math, ValueRange operands) {
  return math.apply<Op>(operands[0], operands[1]);
}

Value logistic(const FloatMath& math, ValueRange operands) {
  Value one = math.constant(1);
  return math.div(one, math.add(one, math.apply<math::ExpOp>(math.neg(operands[0]))));
}

// Not math.expm1, which code generation makes exp(x) - 1: that has no digits left near 0. In
// doubles, because differences of two of them are how programs compute sinh.
Value expMinusOne(const FloatMath& math, ValueRange operands) {
  FloatMath wide = math.in(math.builder().getF64Type());
  return wide.leave(wide.libm("expm1", wide.enter(operands[0]))[0], math.type());
}

// math.rsqrt may become an approximation of the processor; this is within one unit.
Value rsqrt(const FloatMath& math, ValueRange operands) {
  return math.div(math.constant(1), math.apply<math::SqrtOp>(operands[0]));
}

Value integerConstant(OpBuilder& builder, Location loc, Type type, int64_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
}

Value compareIntegers(OpBuilder& builder, Location loc, arith::CmpIPredicate predicate, Value a,
                      Value b) {
  return arith::CmpIOp::create(builder, loc, predicate, a, b);
}

// base ^ exponent, modulo 2 ^ width, by squaring; the exponent counts as unsigned.
Value powerBySquaring(OpBuilder& builder, Location loc, Value base, Value exponent) {
  Type type = base.getType();
  Value zero = integerConstant(builder, loc, type, 0);
  Value one = integerConstant(builder, loc, type, 1);
  auto whileOp = scf::WhileOp::create(
      builder, loc, TypeRange{type, type, type}, ValueRange{one, base, exponent},
      [&](OpBuilder& b, Location l, ValueRange state) {
        Value more = compareIntegers(b, l, arith::CmpIPredicate::ne, state[2], zero);
        scf::ConditionOp::create(b, l, more, state);
      },
      [&](OpBuilder& b, Location l, ValueRange state) {
        Value bit = arith::AndIOp::create(b, l, state[2], one);
        Value isSet = compareIntegers(b, l, arith::CmpIPredicate::ne, bit, zero);
        Value product = arith::MulIOp::create(b, l, state[0], state[1]);
        Value next = arith::SelectOp::create(b, l, isSet, product, state[0]);
        Value square = arith::MulIOp::create(b, l, state[1], state[1]);
        Value rest = arith::ShRUIOp::create(b, l, state[2], one);
        scf::YieldOp::create(b, l, ValueRange{next, square, rest});
      });
  return whileOp.getResult(0);
}

// With a negative exponent only the powers of 1 and -1 are integers; all others are 0.
Value integerPower(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Value base = call.operands[0];
  Value exponent = call.operands[1];
  Type type = base.getType();
  if (call.operandElements[1].isUnsignedInteger())
    return powerBySquaring(builder, loc, base, exponent);
  Value zero = integerConstant(builder, loc, type, 0);
  Value one = integerConstant(builder, loc, type, 1);
  Value minusOne = integerConstant(builder, loc, type, -1);
  auto select = [&](Value condition, Value a, Value b) -> Value {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  };
  auto equal = [&](Value a, Value b) {
    return compareIntegers(builder, loc, arith::CmpIPredicate::eq, a, b);
  };
  Value isNegative = compareIntegers(builder, loc, arith::CmpIPredicate::slt, exponent, zero);
  Value power = powerBySquaring(builder, loc, base, select(isNegative, zero, exponent));
  Value isEven = equal(arith::AndIOp::create(builder, loc, exponent, one), zero);
  Value ofMinusOne = select(isEven, one, minusOne);
  Value inverse = select(equal(base, one), one, select(equal(base, minusOne), ofMinusOne, zero));
  return select(isNegative, inverse, power);
}

Value power(OpBuilder& builder, Location loc, const ScalarCall& call) {
  if (isa<IntegerType>(call.operands.front().getType()))
    return integerPower(builder, loc, call);
  return emitReal<binary<math::PowFOp>>(builder, loc, call);
}

} // namespace

void addMath(ScalarTable& table) {
  table.add("stablehlo.cbrt", emitReal<unary<math::CbrtOp>>);
  table.add("stablehlo.cosine", emitReal<unary<math::CosOp>>);
  table.add("stablehlo.sine", emitReal<unary<math::SinOp>>);
  table.add("stablehlo.tan", emitReal<unary<math::TanOp>>);
  table.add("stablehlo.tanh", emitReal<unary<math::TanhOp>>);
  table.add("stablehlo.exponential", emitReal<unary<math::ExpOp>>);
  table.add("stablehlo.exponential_minus_one", emitReal<expMinusOne>);
  table.add("stablehlo.log", emitReal<unary<math::LogOp>>);
  table.add("stablehlo.log_plus_one", emitReal<unary<math::Log1pOp>>);
  table.add("stablehlo.sqrt", emitReal<unary<math::SqrtOp>>);
  table.add("stablehlo.rsqrt", emitReal<rsqrt>);
  table.add("stablehlo.logistic", emitReal<logistic>);
  table.add("stablehlo.atan2", emitReal<binary<math::Atan2Op>>);
  table.add("stablehlo.power", power);
}

} // namespace nocturne::compiler
