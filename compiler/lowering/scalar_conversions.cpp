// Changes of type, and the parts of complex numbers.
#include <algorithm>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/scalars.h"
#include "compiler/lowering/types.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

using enum arith::CmpIPredicate;
using enum arith::CmpFPredicate;

// Emits conversions between held numbers.
class Convert {
public:
  Convert(OpBuilder& builder, Location loc) : builder_(builder), loc_(loc) {}

  // `narrow`: the result is rounded again, to fewer bits, by whoever called. It is then rounded
  // to odd here, so that the second rounding gives what one rounding would.
  Value number(Value value, Type from, Type to, bool narrow) {
    if (isa<IntegerType, IndexType>(from))
      return isa<FloatType>(to) ? integerToFloat(value, from, to, narrow)
                                : integerToInteger(value, from, to);
    if (!isa<FloatType>(to))
      return floatToInteger(value, to);
    return floatToFloat(value, to, narrow);
  }

  Value floatConstant(Type type, const APFloat& value) {
    APFloat converted = value;
    bool inexact = false;
    converted.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                      &inexact);
    return arith::ConstantOp::create(builder_, loc_, FloatAttr::get(type, converted));
  }
  Value integerConstant(Type type, const APInt& value) {
    return arith::ConstantOp::create(builder_, loc_, builder_.getIntegerAttr(type, value));
  }

private:
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder_, loc_, predicate, lhs, rhs);
  }
  Value compare(arith::CmpFPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpFOp::create(builder_, loc_, predicate, lhs, rhs);
  }
  Value choose(Value condition, Value onTrue, Value onFalse) {
    return arith::SelectOp::create(builder_, loc_, condition, onTrue, onFalse);
  }

  Value integerToInteger(Value value, Type from, Type to) {
    Type type = storageType(to);
    if (value.getType() == type)
      return value;
    if (to.isInteger(1))
      return compare(ne, value, integerConstant(value.getType(), APInt(widthOf(from), 0)));
    if (isa<IndexType>(from) || isa<IndexType>(to))
      return isUnsigned(from) ? Value(arith::IndexCastUIOp::create(builder_, loc_, type, value))
                              : Value(arith::IndexCastOp::create(builder_, loc_, type, value));
    if (widthOf(from) > widthOf(to))
      return arith::TruncIOp::create(builder_, loc_, type, value);
    return isUnsigned(from) ? Value(arith::ExtUIOp::create(builder_, loc_, type, value))
                            : Value(arith::ExtSIOp::create(builder_, loc_, type, value));
  }

  Value integerToFloat(Value value, Type from, Type to, bool narrow) {
    Type type = computeType(to);
    if (isa<IndexType>(from)) {
      from = builder_.getI64Type();
      value = arith::IndexCastOp::create(builder_, loc_, from, value);
    }
    bool isExact = widthOf(from) <= 24;
    if (narrow && !isExact) {
      Type wide = builder_.getF64Type();
      if (widthOf(from) > 53)
        value = dropBitsToOdd(value);
      return roundToOdd(plainIntegerToFloat(value, from, wide));
    }
    return plainIntegerToFloat(value, from, type);
  }

  Value plainIntegerToFloat(Value value, Type from, Type type) {
    return isUnsigned(from) ? Value(arith::UIToFPOp::create(builder_, loc_, type, value))
                            : Value(arith::SIToFPOp::create(builder_, loc_, type, value));
  }

  // An i64 of which f64 holds all bits: the last eleven are folded into the one above them when the
  // number is large, which rounds it to odd. Small numbers are left alone, and then both kinds of
  // integer look the same to the test.
  Value dropBitsToOdd(Value value) {
    Type type = value.getType();
    auto constant = [&](uint64_t bits) { return integerConstant(type, APInt(64, bits)); };
    Value low = arith::AndIOp::create(builder_, loc_, value, constant(0x7FF));
    Value high = arith::AndIOp::create(builder_, loc_, value, constant(~uint64_t(0x7FF)));
    Value odd = arith::OrIOp::create(builder_, loc_, high, constant(0x800));
    Value rounded = choose(compare(eq, low, constant(0)), value, odd);
    // -2^53 <= value < 2^53
    Value moved = arith::AddIOp::create(builder_, loc_, value, constant(uint64_t(1) << 53));
    return choose(compare(ult, moved, constant(uint64_t(1) << 54)), value, rounded);
  }

  // f64 to f32: cut towards zero, with the last bit set if anything was cut off.
  Value roundToOdd(Value wide) {
    Type narrowType = builder_.getF32Type(), bitsType = builder_.getI32Type();
    Value nearest = arith::TruncFOp::create(builder_, loc_, narrowType, wide);
    Value back = arith::ExtFOp::create(builder_, loc_, wide.getType(), nearest);
    // Neither NaN nor an infinity is inexact.
    Value isInexact = compare(ONE, back, wide);
    Value magnitude = math::AbsFOp::create(builder_, loc_, wide);
    Value reached = math::AbsFOp::create(builder_, loc_, back);
    Value isTooLarge = compare(OGT, reached, magnitude);
    Value bits = arith::BitcastOp::create(builder_, loc_, bitsType, nearest);
    Value step = arith::ExtUIOp::create(builder_, loc_, bitsType, isTooLarge);
    Value cut = arith::SubIOp::create(builder_, loc_, bits, step);
    Value last = arith::ExtUIOp::create(builder_, loc_, bitsType, isInexact);
    Value odd = arith::OrIOp::create(builder_, loc_, cut, last);
    return arith::BitcastOp::create(builder_, loc_, narrowType, odd);
  }

  Value floatToFloat(Value value, Type to, bool narrow) {
    Type type = computeType(to);
    if (value.getType() == type)
      return value;
    if (widthOf(value.getType()) < widthOf(type))
      return arith::ExtFOp::create(builder_, loc_, type, value);
    return narrow ? roundToOdd(value) : Value(arith::TruncFOp::create(builder_, loc_, type, value));
  }

  // Towards zero; what is out of range becomes the nearest end of the range, and NaN becomes 0.
  Value floatToInteger(Value value, Type to) {
    Type real = value.getType();
    const auto& semantics = cast<FloatType>(real).getFloatSemantics();
    if (to.isInteger(1))
      return compare(UNE, value, floatConstant(real, APFloat::getZero(semantics)));
    unsigned width = widthOf(to);
    // Narrow integers are reached through 32 bits, which processors convert many of at once.
    unsigned wide = width <= 16 ? 32 : width;
    Type wideType = builder_.getIntegerType(wide);
    bool noSign = isUnsigned(to);
    APInt least = noSign ? APInt::getZero(wide) : APInt::getSignedMinValue(width).sext(wide);
    APInt most =
        noSign ? APInt::getMaxValue(width).zext(wide) : APInt::getSignedMaxValue(width).sext(wide);
    // Both are powers of two or zero, which every float type here has.
    APFloat low(semantics), high(semantics);
    low.convertFromAPInt(least, !noSign, APFloat::rmNearestTiesToEven);
    high.convertFromAPInt(APInt::getOneBitSet(width + 2, noSign ? width : width - 1), false,
                          APFloat::rmNearestTiesToEven);
    bool signedCast = !noSign || width <= 16;
    Value inside = signedCast ? Value(arith::FPToSIOp::create(builder_, loc_, wideType, value))
                              : Value(arith::FPToUIOp::create(builder_, loc_, wideType, value));
    Value tooHigh = compare(OGE, value, floatConstant(real, high));
    Value tooLow = compare(OLE, value, floatConstant(real, low));
    Value result = choose(tooHigh, integerConstant(wideType, most), inside);
    result = choose(tooLow, integerConstant(wideType, least), result);
    Value isNan = compare(UNO, value, value);
    result = choose(isNan, integerConstant(wideType, APInt::getZero(wide)), result);
    if (isa<IndexType>(to))
      return arith::IndexCastOp::create(builder_, loc_, to, result);
    return wide == width ? result
                         : Value(arith::TruncIOp::create(builder_, loc_, storageType(to), result));
  }

  static unsigned widthOf(Type type) {
    return isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
  }

  OpBuilder& builder_;
  Location loc_;
};

Value emitConvert(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Convert convert(builder, loc);
  Type from = call.operandElements[0], to = call.resultElement;
  Value value = call.operands[0];
  if (auto complexTo = dyn_cast<ComplexType>(to)) {
    Type part = complexTo.getElementType();
    if (auto complexFrom = dyn_cast<ComplexType>(from)) {
      if (complexFrom == complexTo)
        return value;
      Type old = complexFrom.getElementType();
      Value real = complex::ReOp::create(builder, loc, value);
      Value imaginary = complex::ImOp::create(builder, loc, value);
      return complex::CreateOp::create(builder, loc, to, convert.number(real, old, part, false),
                                       convert.number(imaginary, old, part, false));
    }
    Value real = convert.number(value, from, part, false);
    const auto& semantics = cast<FloatType>(part).getFloatSemantics();
    Value zero = convert.floatConstant(part, APFloat::getZero(semantics));
    return complex::CreateOp::create(builder, loc, to, real, zero);
  }
  if (auto complexFrom = dyn_cast<ComplexType>(from)) {
    from = complexFrom.getElementType();
    value = complex::ReOp::create(builder, loc, value);
  }
  if (!isa<IntegerType, IndexType, FloatType>(from) || !isa<IntegerType, IndexType, FloatType>(to))
    return {};
  // The table shows f32 for every narrower float: the operation itself has the real type.
  auto held = dyn_cast<FloatType>(getElementTypeOrSelf(call.op->getResult(0).getType()));
  bool narrow = held && held.getWidth() < 32;
  return convert.number(value, from, to, narrow);
}

// Rounds to a float of the given numbers of bits, held in the type that it had.
Value emitReducePrecision(OpBuilder& builder, Location loc, const ScalarCall& call) {
  auto op = dyn_cast<stablehlo::ReducePrecisionOp>(call.op);
  auto real = dyn_cast<FloatType>(call.operandElements[0]);
  if (!op || !real)
    return {};
  unsigned width = real.getWidth();
  int64_t mantissa = real.getFPMantissaWidth() - 1, exponent = width - 1 - mantissa;
  int64_t wantedMantissa = op.getMantissaBits(), wantedExponent = op.getExponentBits();
  Type type = builder.getIntegerType(width);
  auto constant = [&](const APInt& value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  };
  auto choose = [&](Value condition, Value onTrue, Value onFalse) -> Value {
    return arith::SelectOp::create(builder, loc, condition, onTrue, onFalse);
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value lhs, Value rhs) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  };
  Value bits = arith::BitcastOp::create(builder, loc, type, call.operands[0]);
  Value magnitude =
      arith::AndIOp::create(builder, loc, bits, constant(APInt::getSignedMaxValue(width)));
  Value sign = arith::XOrIOp::create(builder, loc, bits, magnitude);
  APInt infinityBits = APFloat::getInf(real.getFloatSemantics()).bitcastToAPInt();
  Value infinity = constant(infinityBits);
  Value result = magnitude;
  if (wantedMantissa < mantissa) {
    // To nearest even: half of the last place that stays, less one when that place is even. A
    // carry runs into the exponent, where it belongs.
    auto dropped = static_cast<unsigned>(mantissa - wantedMantissa);
    Value last = arith::ShRUIOp::create(builder, loc, magnitude, constant(APInt(width, dropped)));
    Value odd = arith::AndIOp::create(builder, loc, last, constant(APInt(width, 1)));
    Value half = constant(APInt::getLowBitsSet(width, dropped - 1));
    Value rounded = arith::AddIOp::create(
        builder, loc, arith::AddIOp::create(builder, loc, magnitude, half), odd);
    result = arith::AndIOp::create(builder, loc, rounded,
                                   constant(APInt::getHighBitsSet(width, width - dropped)));
  }
  // Narrower floats come here as f32: their own exponent decides whether anything is lost.
  auto held = cast<FloatType>(getElementTypeOrSelf(op.getType()));
  int64_t heldExponent = int64_t(held.getWidth()) - held.getFPMantissaWidth();
  if (wantedExponent < std::min(exponent, heldExponent)) {
    int64_t bias = (int64_t(1) << (exponent - 1)) - 1;
    int64_t wantedBias = (int64_t(1) << (wantedExponent - 1)) - 1;
    // The largest exponent that stays is the wanted bias, the smallest 1 - that: what is above
    // becomes infinity, what is below zero, as the smaller format's subnormals do as well.
    auto exponentBits = [&](int64_t value) {
      return APInt(width, static_cast<uint64_t>(value + bias)) << static_cast<unsigned>(mantissa);
    };
    Value tooLarge = compare(uge, result, constant(exponentBits(wantedBias + 1)));
    Value tooSmall = compare(ult, result, constant(exponentBits(1 - wantedBias)));
    result = choose(tooLarge, infinity, result);
    result = choose(tooSmall, constant(APInt::getZero(width)), result);
  }
  // NaN stays the NaN it was, unless there is no mantissa to tell it from infinity.
  Value isNan = compare(ugt, magnitude, infinity);
  result = choose(isNan, wantedMantissa > 0 ? magnitude : infinity, result);
  result = arith::OrIOp::create(builder, loc, result, sign);
  return arith::BitcastOp::create(builder, loc, real, result);
}

// The real part of a real number is itself.
Value emitReal(OpBuilder& builder, Location loc, const ScalarCall& call) {
  if (isa<ComplexType>(call.operandElements[0]))
    return complex::ReOp::create(builder, loc, call.operands[0]);
  return isa<FloatType>(call.operandElements[0]) ? call.operands[0] : Value();
}

Value emitImag(OpBuilder& builder, Location loc, const ScalarCall& call) {
  if (isa<ComplexType>(call.operandElements[0]))
    return complex::ImOp::create(builder, loc, call.operands[0]);
  auto real = dyn_cast<FloatType>(call.operandElements[0]);
  if (!real)
    return {};
  return arith::ConstantOp::create(builder, loc, FloatAttr::get(real, 0.0));
}

Value emitPair(OpBuilder& builder, Location loc, const ScalarCall& call) {
  return complex::CreateOp::create(builder, loc, call.resultElement, call.operands[0],
                                   call.operands[1]);
}

// Between types of one width, on values as they are held.
Value emitBitcast(OpBuilder& builder, Location loc, const ScalarCall& call) {
  Type from = call.operandElements[0], to = call.resultElement;
  if (from == to)
    return call.operands[0];
  if (!from.isIntOrFloat() || !to.isIntOrFloat() ||
      from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth())
    return {};
  Value value = call.operands[0];
  Type held = value.getType(), wanted = storageType(to);
  if (held == wanted)
    return value;
  // Four-bit floats are held in eight bits, four-bit integers are not.
  unsigned heldWidth = held.getIntOrFloatBitWidth(), wantedWidth = wanted.getIntOrFloatBitWidth();
  if (heldWidth > wantedWidth)
    return arith::TruncIOp::create(builder, loc, wanted, value);
  if (heldWidth < wantedWidth)
    return arith::ExtUIOp::create(builder, loc, wanted, value);
  return arith::BitcastOp::create(builder, loc, wanted, value);
}

} // namespace

void addConversions(ScalarTable& table) {
  table.add("stablehlo.convert", emitConvert);
  table.add("stablehlo.reduce_precision", emitReducePrecision);
  table.add("stablehlo.real", emitReal);
  table.add("stablehlo.imag", emitImag);
  table.add("stablehlo.complex", emitPair);
  table.add("stablehlo.bitcast_convert", emitBitcast);
}

} // namespace nocturne::compiler
