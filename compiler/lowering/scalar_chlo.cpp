// The elementwise operations of chlo. They are not registered operations: their names are all there
// is.
#include "compiler/lowering/scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

#include "compiler/lowering/real_formula.h"
#include "compiler/lowering/special_functions.h"
#include "compiler/lowering/types.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// In f64, whatever the type of the operands.
template <RealFormula formula>
Value emitInDouble(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Type type = call.operands.front().getType();
  if (!isa<FloatType>(type))
    return {};
  FloatMath math(builder, loc, call.op, builder.getF64Type());
  SmallVector<Value, 2> operands;
  for (Value operand : call.operands)
    operands.push_back(math.enter(operand));
  return math.leave(formula(math, operands), type);
}

template <typename Op>
Value operation(const FloatMath& math, ValueRange operands) {
  return math.apply<Op>(operands[0]);
}

template <Value (*function)(const FloatMath&, Value)>
Value ofOne(const FloatMath& math, ValueRange operands) {
  return function(math, operands[0]);
}

template <Value (*function)(const FloatMath&, Value, Value)>
Value ofTwo(const FloatMath& math, ValueRange operands) {
  return function(math, operands[0], operands[1]);
}

Value isPositiveInfinity(const FloatMath& math, Value x) {
  return math.equal(x, math.infinity());
}

Value isNegativeInfinity(const FloatMath& math, Value x) {
  return math.equal(x, math.neg(math.infinity()));
}

Value isInfinity(const FloatMath& math, Value x) {
  return math.isInf(x);
}

Value squareReal(const FloatMath& math, Value x) {
  return math.mul(x, x);
}

Value square(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Value x = call.operands.front();
  if (isa<IntegerType>(x.getType()))
    return arith::MulIOp::create(builder, loc, x, x);
  return emitReal<ofOne<squareReal>>(builder, loc, call);
}

// Of a real number: the number itself, with an imaginary part where the result has one.
Value conjugate(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Value x = call.operands.front();
  auto type = dyn_cast<ComplexType>(call.resultElement);
  if (isa<ComplexType>(x.getType()))
    return emitComplex(builder, loc, call);
  if (!type)
    return x;
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(x.getType()));
  return complex::CreateOp::create(builder, loc, type, x, zero);
}

// The code of a float of `element` as an integer of its width, and back.
Value toCode(OpBuilder& builder, Location loc, Type element, Value computed) {
  Value stored = encode(builder, loc, element, computed);
  if (isa<IntegerType>(stored.getType()))
    return stored;
  Type code = builder.getIntegerType(stored.getType().getIntOrFloatBitWidth());
  return arith::BitcastOp::create(builder, loc, code, stored);
}

Value fromCode(OpBuilder& builder, Location loc, Type element, Value code) {
  Type storage = storageType(element);
  if (storage != code.getType())
    code = arith::BitcastOp::create(builder, loc, storage, code);
  return decode(builder, loc, element, code);
}

// The neighbour of `from` in its own type, whose codes order numbers of one sign by magnitude.
Value nextAfter(OpBuilder& builder, Location loc, const ScalarCall& call) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(call.op->getResult(0).getType()));
  auto type = dyn_cast<FloatType>(call.operands.front().getType());
  if (!element || !type)
    return {};
  FloatMath math(builder, loc, call.op, type);
  Value from = call.operands[0];
  Value to = call.operands[1];
  Value fromCodeBits = toCode(builder, loc, element, from);
  Value toCodeBits = toCode(builder, loc, element, to);
  Type codes = fromCodeBits.getType();
  auto constant = [&](const APInt& value) -> Value {
    APInt held = value.zextOrTrunc(codes.getIntOrFloatBitWidth());
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(codes, held));
  };
  Value one = constant(APInt(element.getWidth(), 1));
  Value signBit = constant(APInt::getSignMask(element.getWidth()));
  // Up in magnitude where `to` lies on the side of the sign of `from`.
  Value isUp = math.less(from, to);
  Value isPositive = math.less(math.constant(0), from);
  Value isAway = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, isUp, isPositive);
  Value further = arith::AddIOp::create(builder, loc, fromCodeBits, one);
  Value closer = arith::SubIOp::create(builder, loc, fromCodeBits, one);
  Value next = math.select(isAway, further, closer);
  Value sign = arith::AndIOp::create(builder, loc, toCodeBits, signBit);
  Value smallest = arith::OrIOp::create(builder, loc, sign, one);
  next = math.select(math.equal(from, math.constant(0)), smallest, next);

  Value result = fromCode(builder, loc, element, next);
  result = math.select(math.equal(from, to), to, result);
  Value isNan = math.either(math.isNan(from), math.isNan(to));
  return math.select(isNan, math.nan(), result);
}

Value constantLike(OpBuilder& builder, Location loc, const ScalarCall& call) {
  auto value = dyn_cast_or_null<TypedAttr>(call.op->getAttr("value"));
  Type type = computeType(call.resultElement);
  if (auto real = dyn_cast_or_null<FloatAttr>(value); real && isa<FloatType>(type))
    return arith::ConstantOp::create(builder, loc, FloatAttr::get(type, real.getValueAsDouble()));
  if (auto whole = dyn_cast_or_null<IntegerAttr>(value); whole && isa<IntegerType>(type))
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, whole.getValue()));
  return {};
}

// chlo.broadcast_add is stablehlo.add on operands that were broadcast; some have their own name.
Value broadcasting(OpBuilder& builder, Location loc, const ScalarCall& call) {
  StringRef name = call.op->getName().stripDialect();
  name.consume_front("broadcast_");
  ScalarEmitter emitter = scalarTable().find(("stablehlo." + name).str());
  if (!emitter)
    emitter = scalarTable().find(("chlo." + name).str());
  return emitter ? emitter(builder, loc, call) : Value();
}

} // namespace

void addChloMath(ScalarTable& table) {
  table.add("chlo.acos", emitReal<operation<math::AcosOp>>);
  table.add("chlo.acosh", emitReal<operation<math::AcoshOp>>);
  table.add("chlo.asin", emitReal<operation<math::AsinOp>>);
  table.add("chlo.asinh", emitReal<operation<math::AsinhOp>>);
  table.add("chlo.atan", emitReal<operation<math::AtanOp>>);
  table.add("chlo.atanh", emitReal<operation<math::AtanhOp>>);
  table.add("chlo.cosh", emitReal<operation<math::CoshOp>>);
  table.add("chlo.sinh", emitReal<operation<math::SinhOp>>);
  table.add("chlo.tan", emitReal<operation<math::TanOp>>);
  table.add("chlo.erf", emitReal<operation<math::ErfOp>>);
  table.add("chlo.erfc", emitReal<operation<math::ErfcOp>>);

  table.add("chlo.bessel_i1e", emitInDouble<ofOne<besselI1e>>);
  table.add("chlo.digamma", emitInDouble<ofOne<digamma>>);
  table.add("chlo.erf_inv", emitInDouble<ofOne<inverseErf>>);
  table.add("chlo.lgamma", emitInDouble<ofOne<logGamma>>);
  table.add("chlo.polygamma", emitInDouble<ofTwo<polygamma>>);
  table.add("chlo.zeta", emitInDouble<ofTwo<hurwitzZeta>>);

  table.add("chlo.is_inf", emitReal<ofOne<isInfinity>>);
  table.add("chlo.is_pos_inf", emitReal<ofOne<isPositiveInfinity>>);
  table.add("chlo.is_neg_inf", emitReal<ofOne<isNegativeInfinity>>);
  table.add("chlo.conj", conjugate);
  table.add("chlo.constant_like", constantLike);
  table.add("chlo.next_after", nextAfter);
  table.add("chlo.square", square);

  for (StringRef name : {"add",
                         "and",
                         "atan2",
                         "compare",
                         "complex",
                         "divide",
                         "maximum",
                         "minimum",
                         "multiply",
                         "next_after",
                         "or",
                         "polygamma",
                         "power",
                         "remainder",
                         "select",
                         "shift_left",
                         "shift_right_arithmetic",
                         "shift_right_logical",
                         "subtract",
                         "xor",
                         "zeta"})
    table.add(("chlo.broadcast_" + name).str(), broadcasting);
}

} // namespace nocturne::compiler
