#include "compiler/lowering/types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace nocturne::compiler {

namespace {

using namespace mlir;

// Floats that stay what they are. LLVM has bf16 too, but for processors without instructions for
// it even moving one into a vector may become a call of a function of a newer libgcc.
bool isNative(FloatType type) {
  return type.isF64() || type.isF32() || type.isF16();
}

// The part of a small float format that decoding and encoding need.
struct Format {
  unsigned width, mantissa; // bits; mantissa without the hidden one
  int bias;
  bool hasSign = true;
  bool hasInfinity = false, hasNan = true;
  bool unsignedZeroNan = false; // "FNUZ": one zero, and the only NaN is the code of -0
};

Format formatOf(FloatType type) {
  if (isa<Float8E5M2Type>(type))
    return {8, 2, 15, true, true, true, false};
  if (isa<Float8E4M3Type>(type))
    return {8, 3, 7, true, true, true, false};
  if (isa<Float8E4M3FNType>(type))
    return {8, 3, 7, true, false, true, false};
  if (isa<Float8E3M4Type>(type))
    return {8, 4, 3, true, true, true, false};
  if (isa<Float8E5M2FNUZType>(type))
    return {8, 2, 16, true, false, true, true};
  if (isa<Float8E4M3FNUZType>(type))
    return {8, 3, 8, true, false, true, true};
  if (isa<Float8E4M3B11FNUZType>(type))
    return {8, 3, 11, true, false, true, true};
  if (isa<Float8E8M0FNUType>(type))
    return {8, 0, 127, false, false, true, false};
  if (isa<Float4E2M1FNType>(type))
    return {4, 1, 1, true, false, false, false};
  if (isa<Float6E2M3FNType>(type))
    return {6, 3, 1, true, false, false, false};
  return {6, 2, 3, true, false, false, false}; // f6E3M2FN
}

// Emits integer arithmetic on values of one width.
class Bits {
public:
  Bits(OpBuilder& builder, Location loc) : builder_(builder), loc_(loc) {}

  Value i32(int64_t value) {
    return arith::ConstantOp::create(builder_, loc_, builder_.getI32IntegerAttr(int32_t(value)));
  }
  Value f32(float value) {
    return arith::ConstantOp::create(builder_, loc_, builder_.getF32FloatAttr(value));
  }
  Value andi(Value a, Value b) { return arith::AndIOp::create(builder_, loc_, a, b); }
  Value ori(Value a, Value b) { return arith::OrIOp::create(builder_, loc_, a, b); }
  Value shl(Value a, int64_t by) { return arith::ShLIOp::create(builder_, loc_, a, i32(by)); }
  Value shr(Value a, int64_t by) { return arith::ShRUIOp::create(builder_, loc_, a, i32(by)); }
  Value shr(Value a, Value by) { return arith::ShRUIOp::create(builder_, loc_, a, by); }
  Value shl(Value a, Value by) { return arith::ShLIOp::create(builder_, loc_, a, by); }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder_, loc_, a, b); }
  Value sub(Value a, Value b) { return arith::SubIOp::create(builder_, loc_, a, b); }
  Value mulf(Value a, Value b) { return arith::MulFOp::create(builder_, loc_, a, b); }
  Value select(Value c, Value a, Value b) {
    return arith::SelectOp::create(builder_, loc_, c, a, b);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder_, loc_, predicate, a, b);
  }
  Value asFloat(Value bits) {
    return arith::BitcastOp::create(builder_, loc_, builder_.getF32Type(), bits);
  }
  Value asBits(Value number) {
    return arith::BitcastOp::create(builder_, loc_, builder_.getI32Type(), number);
  }
  Value widen(Value narrow) {
    return arith::ExtUIOp::create(builder_, loc_, builder_.getI32Type(), narrow);
  }
  Value narrow(Value wide, Type type) {
    return arith::TruncIOp::create(builder_, loc_, type, wide);
  }

private:
  OpBuilder& builder_;
  Location loc_;
};

using enum arith::CmpIPredicate;

constexpr int64_t kQuietNan = 0x7FC00000;

// A code of a small float as f32, which holds every value of every format.
Value decodeSmall(OpBuilder& builder, Location loc, const Format& format, Value stored) {
  Bits bits(builder, loc);
  Value code = bits.widen(stored);
  unsigned valueBits = format.width - (format.hasSign ? 1 : 0);
  Value magnitude = bits.andi(code, bits.i32((1 << valueBits) - 1));
  // Exponent and mantissa moved to f32's places; the product with a power of two then corrects the
  // bias and makes subnormals right at the same time.
  Value moved = bits.shl(magnitude, 23 - format.mantissa);
  Value value;
  if (format.mantissa == 0) {
    // Only an exponent: code 0 is 2^-127, a subnormal of f32.
    value = bits.select(bits.compare(eq, magnitude, bits.i32(0)), bits.i32(1 << 22), moved);
  } else {
    Value scale = bits.asFloat(bits.i32(int64_t(127 + 127 - format.bias) << 23));
    value = bits.asBits(bits.mulf(bits.asFloat(moved), scale));
  }
  int64_t exponentOnes = ((1 << valueBits) - 1) & ~((1 << format.mantissa) - 1);
  if (format.hasInfinity) {
    Value special = bits.compare(uge, magnitude, bits.i32(exponentOnes));
    value = bits.select(special, bits.i32(0x7F800000), value);
    Value nan = bits.compare(ugt, magnitude, bits.i32(exponentOnes));
    value = bits.select(nan, bits.i32(kQuietNan), value);
  } else if (format.hasNan && !format.unsignedZeroNan) {
    Value nan = bits.compare(eq, magnitude, bits.i32((1 << valueBits) - 1));
    value = bits.select(nan, bits.i32(kQuietNan), value);
  }
  if (format.hasSign) {
    Value sign = bits.shl(bits.shr(code, valueBits), 31);
    value = bits.ori(value, sign);
  }
  if (format.unsignedZeroNan) {
    Value nan = bits.compare(eq, code, bits.i32(1 << valueBits));
    value = bits.select(nan, bits.i32(kQuietNan), value);
  }
  return bits.asFloat(value);
}

// The largest finite code of a format, without its sign.
int64_t largestCode(const Format& format) {
  unsigned valueBits = format.width - (format.hasSign ? 1 : 0);
  int64_t all = (1 << valueBits) - 1;
  if (format.hasInfinity)
    return (all & ~((1 << format.mantissa) - 1)) - 1;
  if (format.hasNan && !format.unsignedZeroNan)
    return all - 1;
  return all;
}

// f32 to the nearest code, ties to even. What is too large becomes infinity, or NaN in a format
// that has no infinity, or the largest number in one that has neither.
Value encodeSmall(OpBuilder& builder, Location loc, const Format& format, Type storage,
                  Value number) {
  Bits bits(builder, loc);
  unsigned valueBits = format.width - (format.hasSign ? 1 : 0);
  Value word = bits.asBits(number);
  Value magnitude = bits.andi(word, bits.i32(0x7FFFFFFF));
  unsigned dropped = 23 - format.mantissa;

  // Normal results: round at the mantissa's end, then take the difference of the biases away.
  Value odd = bits.andi(bits.shr(magnitude, dropped), bits.i32(1));
  Value half = bits.i32((int64_t(1) << (dropped - 1)) - 1);
  Value rounded = bits.add(bits.add(magnitude, half), odd);
  int64_t biasStep = int64_t(127 - format.bias) << 23;
  Value normal = bits.shr(bits.sub(rounded, bits.i32(biasStep)), dropped);

  Value code = normal;
  if (format.mantissa > 0) {
    // Subnormal results: adding a number whose last place is the smallest subnormal makes the
    // adder round.
    int64_t magicExponent = 127 - format.bias + 1 + int64_t(dropped);
    Value magic = bits.i32(magicExponent << 23);
    Value sum = arith::AddFOp::create(builder, loc, bits.asFloat(magnitude), bits.asFloat(magic));
    Value subnormal = bits.sub(bits.asBits(sum), magic);
    Value smallestNormal = bits.i32(int64_t(127 - format.bias + 1) << 23);
    code = bits.select(bits.compare(ult, magnitude, smallestNormal), subnormal, normal);
  }
  int64_t largest = largestCode(format);
  int64_t tooLarge = format.hasInfinity       ? largest + 1
                     : format.unsignedZeroNan ? int64_t(1) << valueBits
                     : format.hasNan          ? largest + 1
                                              : largest;
  Value overflow = bits.compare(ugt, code, bits.i32(largest));
  // An infinity or a huge number passes the exponent's end before the shift can show it.
  Value infinite = bits.compare(uge, rounded, bits.i32(0x7F800000));
  overflow = bits.ori(overflow, infinite);
  code = bits.select(overflow, bits.i32(tooLarge), code);
  Value isNan = bits.compare(ugt, magnitude, bits.i32(0x7F800000));
  if (format.hasNan) {
    int64_t nan = format.hasInfinity       ? largest + 1 + (1 << (format.mantissa - 1))
                  : format.unsignedZeroNan ? int64_t(1) << valueBits
                                           : largest + 1;
    code = bits.select(isNan, bits.i32(nan), code);
  }
  if (format.hasSign) {
    Value sign = bits.shl(bits.shr(word, 31), valueBits);
    if (format.unsignedZeroNan) {
      // There is no negative zero: its code is the NaN's.
      Value none = bits.compare(eq, code, bits.i32(0));
      sign = bits.select(none, bits.i32(0), sign);
    }
    code = bits.ori(code, sign);
  } else {
    // Nothing below 2^-127 and nothing negative can be said.
    Value negative = bits.compare(ne, bits.shr(word, 31), bits.i32(0));
    Value zero = bits.compare(eq, magnitude, bits.i32(0));
    code = bits.select(bits.ori(negative, zero), bits.i32(largest + 1), code);
  }
  return bits.narrow(code, storage);
}

// bf16 is the upper half of f32, so its conversions are a few integer operations that vectorise.
Value decodeBfloat(OpBuilder& builder, Location loc, Value stored) {
  Bits bits(builder, loc);
  return bits.asFloat(bits.shl(bits.widen(stored), 16));
}

Value encodeBfloat(OpBuilder& builder, Location loc, Value number) {
  Bits bits(builder, loc);
  Value word = bits.asBits(number);
  Value odd = bits.andi(bits.shr(word, 16), bits.i32(1));
  Value rounded = bits.add(bits.add(word, bits.i32(0x7FFF)), odd);
  Value magnitude = bits.andi(word, bits.i32(0x7FFFFFFF));
  Value isNan = bits.compare(ugt, magnitude, bits.i32(0x7F800000));
  Value quiet = bits.ori(word, bits.i32(0x00400000));
  Value upper = bits.shr(bits.select(isNan, quiet, rounded), 16);
  return bits.narrow(upper, builder.getI16Type());
}

} // namespace

Type storageType(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), integer.getWidth());
  if (auto real = dyn_cast<FloatType>(element))
    return isNative(real) ? element
                          : IntegerType::get(element.getContext(), real.getWidth() > 8 ? 16 : 8);
  return element;
}

Type computeType(Type element) {
  if (auto real = dyn_cast<FloatType>(element))
    return real.isF64() ? element : Float32Type::get(element.getContext());
  return storageType(element);
}

bool isUnsigned(Type element) {
  return element.isUnsignedInteger() || element.isInteger(1);
}

Value decode(OpBuilder& builder, Location loc, Type element, Value stored) {
  auto real = dyn_cast<FloatType>(element);
  if (!real || real.isF32() || real.isF64())
    return stored;
  if (real.isBF16())
    return decodeBfloat(builder, loc, stored);
  if (real.isF16())
    return arith::ExtFOp::create(builder, loc, builder.getF32Type(), stored);
  return decodeSmall(builder, loc, formatOf(real), stored);
}

Value encode(OpBuilder& builder, Location loc, Type element, Value computed) {
  auto real = dyn_cast<FloatType>(element);
  if (!real || real.isF32() || real.isF64())
    return computed;
  if (real.isBF16())
    return encodeBfloat(builder, loc, computed);
  if (real.isF16())
    return arith::TruncFOp::create(builder, loc, element, computed);
  return encodeSmall(builder, loc, formatOf(real), storageType(element), computed);
}

LoweringTypes::LoweringTypes() {
  addConversion([](Type type) { return type; });
  addConversion([](IntegerType type) -> Type { return storageType(type); });
  addConversion([](FloatType type) -> Type { return storageType(type); });
  addConversion([](RankedTensorType type) -> std::optional<Type> {
    if (!type.hasStaticShape())
      return std::nullopt;
    Type element = storageType(type.getElementType());
    return RankedTensorType::get(type.getShape(), element);
  });
  auto cast = [](OpBuilder& builder, Type type, ValueRange inputs, Location loc) -> Value {
    return UnrealizedConversionCastOp::create(builder, loc, type, inputs).getResult(0);
  };
  addSourceMaterialization(cast);
  addTargetMaterialization(cast);
}

} // namespace nocturne::compiler
