// Arithmetic, bits, comparison and choice.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/scalars.h"
#include "compiler/lowering/types.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

bool isBoolean(Type element) {
  return element.isInteger(1);
}

unsigned widthOf(Type element) {
  return isa<IndexType>(element) ? 64 : element.getIntOrFloatBitWidth();
}

// Of a signed integer of `width` bits, or with all bits but the sign's set.
int64_t largestMagnitude(unsigned width) {
  return static_cast<int64_t>((uint64_t(1) << (width - 1)) - 1);
}

// One call with shorthands for what its emitter builds.
class Emit {
public:
  Emit(OpBuilder& builder, Location loc, const ScalarCall& call)
      : builder_(builder), loc_(loc), call_(call) {}

  Type element() const { return call_.operandElements[0]; }
  Value operand(unsigned index) const { return call_.operands[index]; }
  bool isInteger() const { return isa<IntegerType, IndexType>(element()); }
  bool isFloat() const { return isa<FloatType>(element()); }
  bool isComplex() const { return isa<ComplexType>(element()); }

  template <typename OpTy, typename... Args>
  Value make(Args&&... args) const {
    return OpTy::create(builder_, loc_, std::forward<Args>(args)...);
  }
  Value integer(Type type, int64_t value) const {
    return make<arith::ConstantOp>(builder_.getIntegerAttr(type, value));
  }
  Value integer(Value like, int64_t value) const { return integer(like.getType(), value); }
  Value number(Value like, double value) const {
    return make<arith::ConstantOp>(FloatAttr::get(like.getType(), value));
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) const {
    return make<arith::CmpIOp>(predicate, lhs, rhs);
  }
  Value compare(arith::CmpFPredicate predicate, Value lhs, Value rhs) const {
    return make<arith::CmpFOp>(predicate, lhs, rhs);
  }
  Value both(Value lhs, Value rhs) const { return make<arith::AndIOp>(lhs, rhs); }
  Value either(Value lhs, Value rhs) const { return make<arith::OrIOp>(lhs, rhs); }
  Value choose(Value condition, Value onTrue, Value onFalse) const {
    return make<arith::SelectOp>(condition, onTrue, onFalse);
  }
  Value re(Value value) const { return make<complex::ReOp>(value); }
  Value im(Value value) const { return make<complex::ImOp>(value); }
  Value pair(Value real, Value imaginary) const {
    return make<complex::CreateOp>(ComplexType::get(real.getType()), real, imaginary);
  }
  // What another file knows about this operation on complex numbers.
  Value onComplex() const {
    ScalarEmitter emitter = complexEmitter(call_.op->getName().getStringRef());
    return emitter ? emitter(builder_, loc_, call_) : Value();
  }

private:
  OpBuilder& builder_;
  Location loc_;
  const ScalarCall& call_;
};

//===------------------------------------------------------------------------------------------===//
// Sums and products
//===------------------------------------------------------------------------------------------===//

Value emitAdd(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Emit emit(builder, loc, call);
  Value lhs = emit.operand(0), rhs = emit.operand(1);
  if (isBoolean(emit.element()))
    return emit.either(lhs, rhs);
  if (emit.isInteger())
    return emit.make<arith::AddIOp>(lhs, rhs);
  if (emit.isFloat())
    return emit.make<arith::AddFOp>(lhs, rhs);
  if (!emit.isComplex())
    return {};
  return emit.pair(emit.make<arith::AddFOp>(emit.re(lhs), emit.re(rhs)),
                   emit.make<arith::AddFOp>(emit.im(lhs), emit.im(rhs)));
}

Value emitSubtract(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Emit emit(builder, loc, call);
  Value lhs = emit.operand(0), rhs = emit.operand(1);
  if (emit.isInteger())
    return emit.make<arith::SubIOp>(lhs, rhs);
  if (emit.isFloat())
    return emit.make<arith::SubFOp>(lhs, rhs);
  if (!emit.isComplex())
    return {};
  return emit.pair(emit.make<arith::SubFOp>(emit.re(lhs), emit.re(rhs)),
                   emit.make<arith::SubFOp>(emit.im(lhs), emit.im(rhs)));
}

Value emitMultiply(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Emit emit(builder, loc, call);
  Value lhs = emit.operand(0), rhs = emit.operand(1);
  if (isBoolean(emit.element()))
    return emit.both(lhs, rhs);
  if (emit.isInteger())
    return emit.make<arith::MulIOp>(lhs, rhs);
  if (emit.isFloat())
    return emit.make<arith::MulFOp>(lhs, rhs);
  if (!emit.isComplex())
    return {};
  // The four products as they are: StableHLO does not repair infinities as C's Annex G does.
  Value a = emit.re(lhs), b = emit.im(lhs), c = emit.re(rhs), d = emit.im(rhs);
  return emit.pair(
      emit.make<arith::SubFOp>(emit.make<arith::MulFOp>(a, c), emit.make<arith::MulFOp>(b, d)),
      emit.make<arith::AddFOp>(emit.make<arith::MulFOp>(a, d), emit.make<arith::MulFOp>(b, c)));
}

// A divisor with which neither instruction traps: x / 0 and the one quotient that does not fit
// become x / 1.
Value harmlessDivisor(const Emit& emit, Value divisorIsZero) {
  Value dividend = emit.operand(0), divisor = emit.operand(1);
  Value replace = divisorIsZero;
  if (!isUnsigned(emit.element())) {
    Value smallest = emit.integer(dividend, -largestMagnitude(widthOf(dividend.getType())) - 1);
    Value overflows =
        emit.both(emit.compare(arith::CmpIPredicate::eq, dividend, smallest),
                  emit.compare(arith::CmpIPredicate::eq, divisor, emit.integer(divisor, -1)));
    replace = emit.either(divisorIsZero, overflows);
  }
  return emit.choose(replace, emit.integer(divisor, 1), divisor);
}

Value divisorIsZero(const Emit& emit) {
  Value divisor = emit.operand(1);
  return emit.compare(arith::CmpIPredicate::eq, divisor, emit.integer(divisor, 0));
}

Value emitDivide(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Emit emit(builder, loc, call);
  Value lhs = emit.operand(0), rhs = emit.operand(1);
  if (emit.isComplex())
    return emit.onComplex();
  if (emit.isFloat())
    return emit.make<arith::DivFOp>(lhs, rhs);
  if (!emit.isInteger() || isBoolean(emit.element()))
    return {};
  Value isZero = divisorIsZero(emit);
  Value divisor = harmlessDivisor(emit, isZero);
  Value quotient = isUnsigned(emit.element()) ? emit.make<arith::DivUIOp>(lhs, divisor)
                                              : emit.make<arith::DivSIOp>(lhs, divisor);
  // All ones: -1, or the largest unsigned number.
  return emit.choose(isZero, emit.integer(quotient, -1), quotient);
}

Value emitRemainder(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Emit emit(builder, loc, call);
  Value lhs = emit.operand(0), rhs = emit.operand(1);
  if (emit.isComplex())
    return emit.onComplex();
  if (emit.isFloat())
    return emit.make<arith::RemFOp>(lhs, rhs);
  if (!emit.isInteger() || isBoolean(emit.element()))
    return {};
  Value isZero = divisorIsZero(emit);
  Value divisor = harmlessDivisor(emit, isZero);
  Value rest = isUnsigned(emit.element()) ? emit.make<arith::RemUIOp>(lhs, divisor)
                                          : emit.make<arith::RemSIOp>(lhs, divisor);
  return emit.choose(isZero, lhs, rest);
}

Value emitNegate(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Emit emit(builder, loc, call);
  Value value = emit.operand(0);
  if (emit.isInteger())
    return emit.make<arith::SubIOp>(emit.integer(value, 0), value);
  if (emit.isFloat())
    return emit.make<arith::NegFOp>(value);
  if (!emit.isComplex())
    return {};
  return emit.pair(emit.make<arith::NegFOp>(emit.re(value)),
                   emit.make<arith::NegFOp>(emit.im(value)));
}

Value emitAbs(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Emit emit(builder, loc, call);
  Value value = emit.operand(0);
  if (emit.isComplex())
    return emit.onComplex();
  if (emit.isFloat())
    return emit.make<math::AbsFOp>(value);
  if (!emit.isInteger())
    return {};
  if (isUnsigned(emit.element()))
    return value;
  // The smallest number stays what it is.
  Value negated = emit.make<arith::SubIOp>(emit.integer(value, 0), value);
  return emit.make<arith::MaxSIOp>(value, negated);
}

Value emitSign(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Emit emit(builder, loc, call);
  Value value = emit.operand(0);
  if (emit.isComplex())
    return emit.onComplex();
  if (emit.isFloat()) {
    // Zeros keep their sign and NaN stays NaN.
    Value isOther = emit.compare(arith::CmpFPredicate::ONE, value, emit.number(value, 0));
    Value one = emit.make<math::CopySignOp>(emit.number(value, 1), value);
    return emit.choose(isOther, one, value);
  }
  if (!emit.isInteger())
    return {};
  if (isUnsigned(emit.element()))
    return emit.make<arith::MinUIOp>(value, emit.integer(value, 1));
  Value clipped = emit.make<arith::MinSIOp>(value, emit.integer(value, 1));
  return emit.make<arith::MaxSIOp>(clipped, emit.integer(value, -1));
}

//===------------------------------------------------------------------------------------------===//
// Bits
//===------------------------------------------------------------------------------------------===//

template <typename OpTy>
Value emitBitwise(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Emit emit(builder, loc, call);
  return emit.isInteger() ? emit.make<OpTy>(emit.operand(0), emit.operand(1)) : Value();
}

Value emitNot(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Emit emit(builder, loc, call);
  if (!emit.isInteger())
    return {};
  return emit.make<arith::XOrIOp>(emit.operand(0), emit.integer(emit.operand(0), -1));
}

// Shifts that push every bit out, negative amounts among them as they are large without a sign,
// leave zero.
template <typename OpTy>
Value emitLogicalShift(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Emit emit(builder, loc, call);
  if (!emit.isInteger())
    return {};
  Value value = emit.operand(0), amount = emit.operand(1);
  // The largest amount rather than the width, which a one-bit integer cannot hold.
  Value largest = emit.integer(amount, int64_t(widthOf(value.getType())) - 1);
  Value stays = emit.compare(arith::CmpIPredicate::ule, amount, largest);
  return emit.choose(stays, emit.make<OpTy>(value, amount), emit.integer(value, 0));
}

// The sign fills what is pushed out.
Value emitShiftRightArithmetic(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Emit emit(builder, loc, call);
  if (!emit.isInteger())
    return {};
  Value value = emit.operand(0), amount = emit.operand(1);
  Value largest = emit.integer(amount, int64_t(widthOf(value.getType())) - 1);
  return emit.make<arith::ShRSIOp>(value, emit.make<arith::MinUIOp>(amount, largest));
}

template <typename OpTy>
Value emitBitCount(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Emit emit(builder, loc, call);
  return emit.isInteger() ? emit.make<OpTy>(emit.operand(0)) : Value();
}

//===------------------------------------------------------------------------------------------===//
// Order
//===------------------------------------------------------------------------------------------===//

// By the real parts, and by the imaginary parts where those are equal.
Value complexIsGreater(const Emit& emit, Value lhs, Value rhs) {
  Value a = emit.re(lhs), b = emit.re(rhs);
  Value byReal = emit.compare(arith::CmpFPredicate::OGT, a, b);
  Value byImaginary =
      emit.both(emit.compare(arith::CmpFPredicate::OEQ, a, b),
                emit.compare(arith::CmpFPredicate::OGT, emit.im(lhs), emit.im(rhs)));
  return emit.either(byReal, byImaginary);
}

// NaN wins, and -0 is less than +0.
Value maximum(const Emit& emit, Value lhs, Value rhs) {
  if (isBoolean(emit.element()))
    return emit.either(lhs, rhs);
  if (emit.isInteger())
    return isUnsigned(emit.element()) ? emit.make<arith::MaxUIOp>(lhs, rhs)
                                      : emit.make<arith::MaxSIOp>(lhs, rhs);
  if (emit.isFloat())
    return emit.make<arith::MaximumFOp>(lhs, rhs);
  if (emit.isComplex())
    return emit.choose(complexIsGreater(emit, lhs, rhs), lhs, rhs);
  return {};
}

Value minimum(const Emit& emit, Value lhs, Value rhs) {
  if (isBoolean(emit.element()))
    return emit.both(lhs, rhs);
  if (emit.isInteger())
    return isUnsigned(emit.element()) ? emit.make<arith::MinUIOp>(lhs, rhs)
                                      : emit.make<arith::MinSIOp>(lhs, rhs);
  if (emit.isFloat())
    return emit.make<arith::MinimumFOp>(lhs, rhs);
  if (emit.isComplex())
    return emit.choose(complexIsGreater(emit, rhs, lhs), lhs, rhs);
  return {};
}

Value emitMaximum(OpBuilder& builder, Location loc, const ScalarCall& call) {
  return maximum(Emit(builder, loc, call), call.operands[0], call.operands[1]);
}

Value emitMinimum(OpBuilder& builder, Location loc, const ScalarCall& call) {
  return minimum(Emit(builder, loc, call), call.operands[0], call.operands[1]);
}

Value emitClamp(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Emit emit(builder, loc, call);
  Value raised = maximum(emit, call.operands[1], call.operands[0]);
  return raised ? minimum(emit, raised, call.operands[2]) : Value();
}

using stablehlo::ComparisonDirection;

arith::CmpIPredicate integerPredicate(ComparisonDirection direction, bool isUnsigned) {
  using enum arith::CmpIPredicate;
  switch (direction) {
  case ComparisonDirection::EQ:
    return eq;
  case ComparisonDirection::NE:
    return ne;
  case ComparisonDirection::GE:
    return isUnsigned ? uge : sge;
  case ComparisonDirection::GT:
    return isUnsigned ? ugt : sgt;
  case ComparisonDirection::LE:
    return isUnsigned ? ule : sle;
  case ComparisonDirection::LT:
    return isUnsigned ? ult : slt;
  }
  return eq;
}

// Everything but NE is false for NaN.
arith::CmpFPredicate floatPredicate(ComparisonDirection direction) {
  using enum arith::CmpFPredicate;
  switch (direction) {
  case ComparisonDirection::EQ:
    return OEQ;
  case ComparisonDirection::NE:
    return UNE;
  case ComparisonDirection::GE:
    return OGE;
  case ComparisonDirection::GT:
    return OGT;
  case ComparisonDirection::LE:
    return OLE;
  case ComparisonDirection::LT:
    return OLT;
  }
  return OEQ;
}

// -NaN < -infinity < ... < -0 < +0 < ... < infinity < NaN: the bits as a signed integer, with those
// of negative numbers turned round.
Value totalOrderKey(const Emit& emit, Value value) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  Type type = IntegerType::get(value.getContext(), width);
  Value bits = emit.make<arith::BitcastOp>(type, value);
  Value sign = emit.make<arith::ShRSIOp>(bits, emit.integer(type, width - 1));
  Value magnitude = emit.integer(type, largestMagnitude(width));
  return emit.make<arith::XOrIOp>(bits, emit.both(sign, magnitude));
}

Value emitCompare(OpBuilder& builder, Location loc, const ScalarCall& call) {
  auto compare = dyn_cast<stablehlo::CompareOp>(call.op);
  if (!compare)
    return {};
  Emit emit(builder, loc, call);
  ComparisonDirection direction = compare.getComparisonDirection();
  Value lhs = emit.operand(0), rhs = emit.operand(1);
  if (emit.isInteger())
    return emit.compare(integerPredicate(direction, isUnsigned(emit.element())), lhs, rhs);
  if (emit.isFloat()) {
    if (compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
      return emit.compare(integerPredicate(direction, /*isUnsigned=*/false),
                          totalOrderKey(emit, lhs), totalOrderKey(emit, rhs));
    return emit.compare(floatPredicate(direction), lhs, rhs);
  }
  if (!emit.isComplex())
    return {};
  // Complex numbers have no order.
  if (direction != ComparisonDirection::EQ && direction != ComparisonDirection::NE)
    return {};
  arith::CmpFPredicate predicate = floatPredicate(direction);
  Value real = emit.compare(predicate, emit.re(lhs), emit.re(rhs));
  Value imaginary = emit.compare(predicate, emit.im(lhs), emit.im(rhs));
  return direction == ComparisonDirection::EQ ? emit.both(real, imaginary)
                                              : emit.either(real, imaginary);
}

Value emitSelect(OpBuilder& builder, Location loc, const ScalarCall& call) {
  return arith::SelectOp::create(builder, loc, call.operands[0], call.operands[1],
                                 call.operands[2]);
}

//===------------------------------------------------------------------------------------------===//
// Floats only
//===------------------------------------------------------------------------------------------===//

Value emitIsFinite(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Emit emit(builder, loc, call);
  if (!emit.isFloat())
    return {};
  Value magnitude = emit.make<math::AbsFOp>(emit.operand(0));
  const auto& semantics = cast<FloatType>(magnitude.getType()).getFloatSemantics();
  Value infinity =
      emit.make<arith::ConstantOp>(FloatAttr::get(magnitude.getType(), APFloat::getInf(semantics)));
  return emit.compare(arith::CmpFPredicate::OLT, magnitude, infinity);
}

template <typename OpTy>
Value emitRounding(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Emit emit(builder, loc, call);
  return emit.isFloat() ? emit.make<OpTy>(emit.operand(0)) : Value();
}

} // namespace

void addArithmetic(ScalarTable& table) {
  table.add("stablehlo.add", emitAdd);
  table.add("stablehlo.subtract", emitSubtract);
  table.add("stablehlo.multiply", emitMultiply);
  table.add("stablehlo.divide", emitDivide);
  table.add("stablehlo.remainder", emitRemainder);
  table.add("stablehlo.negate", emitNegate);
  table.add("stablehlo.abs", emitAbs);
  table.add("stablehlo.sign", emitSign);

  table.add("stablehlo.and", emitBitwise<arith::AndIOp>);
  table.add("stablehlo.or", emitBitwise<arith::OrIOp>);
  table.add("stablehlo.xor", emitBitwise<arith::XOrIOp>);
  table.add("stablehlo.not", emitNot);
  table.add("stablehlo.shift_left", emitLogicalShift<arith::ShLIOp>);
  table.add("stablehlo.shift_right_logical", emitLogicalShift<arith::ShRUIOp>);
  table.add("stablehlo.shift_right_arithmetic", emitShiftRightArithmetic);
  table.add("stablehlo.popcnt", emitBitCount<math::CtPopOp>);
  table.add("stablehlo.count_leading_zeros", emitBitCount<math::CountLeadingZerosOp>);

  table.add("stablehlo.maximum", emitMaximum);
  table.add("stablehlo.minimum", emitMinimum);
  table.add("stablehlo.clamp", emitClamp);
  table.add("stablehlo.compare", emitCompare);
  table.add("stablehlo.select", emitSelect);

  table.add("stablehlo.is_finite", emitIsFinite);
  table.add("stablehlo.floor", emitRounding<math::FloorOp>);
  table.add("stablehlo.ceil", emitRounding<math::CeilOp>);
  table.add("stablehlo.round_nearest_afz", emitRounding<math::RoundOp>);
  table.add("stablehlo.round_nearest_even", emitRounding<math::RoundEvenOp>);
}

} // namespace nocturne::compiler
