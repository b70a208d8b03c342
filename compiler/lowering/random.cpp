#include <array>
#include <cmath>
#include <numbers>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/families.h"
#include "compiler/lowering/loops.h"
#include "compiler/lowering/numbers.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// Emits arithmetic on words: i32, and i64 for pairs of them.
class Words {
public:
  Words(OpBuilder& builder, Location loc) : builder_(builder), loc_(loc) {}

  Value constant(unsigned width, uint64_t value) {
    Type type = builder_.getIntegerType(width);
    return arith::ConstantOp::create(builder_, loc_,
                                     builder_.getIntegerAttr(type, APInt(width, value)));
  }
  Value plus(Value a, Value b) { return arith::AddIOp::create(builder_, loc_, a, b); }
  Value plus(Value a, uint64_t b) { return plus(a, constant(widthOf(a), b)); }
  Value exclusiveOr(Value a, Value b) { return arith::XOrIOp::create(builder_, loc_, a, b); }
  Value shiftRight(Value a, unsigned by) {
    return arith::ShRUIOp::create(builder_, loc_, a, constant(widthOf(a), by));
  }
  Value shiftLeft(Value a, unsigned by) {
    return arith::ShLIOp::create(builder_, loc_, a, constant(widthOf(a), by));
  }
  Value rotateLeft(Value a, unsigned by) {
    return arith::OrIOp::create(builder_, loc_, shiftLeft(a, by), shiftRight(a, widthOf(a) - by));
  }
  // To any width: cut, or with zeros in front.
  Value resized(Value a, unsigned width) {
    Type type = builder_.getIntegerType(width);
    if (width < widthOf(a))
      return arith::TruncIOp::create(builder_, loc_, type, a);
    if (width > widthOf(a))
      return arith::ExtUIOp::create(builder_, loc_, type, a);
    return a;
  }
  Value low(Value pair) { return resized(pair, 32); }
  Value high(Value pair) { return resized(shiftRight(pair, 32), 32); }
  Value pair(Value low, Value high) {
    return arith::OrIOp::create(builder_, loc_, resized(low, 64), shiftLeft(resized(high, 64), 32));
  }
  Value fromIndex(Value index) {
    return arith::IndexCastUIOp::create(builder_, loc_, builder_.getI64Type(), index);
  }

private:
  static unsigned widthOf(Value value) { return value.getType().getIntOrFloatBitWidth(); }

  OpBuilder& builder_;
  Location loc_;
};

// ThreeFry-2x32 with 20 rounds (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011).
std::array<Value, 2> threeFry(Words& words, Value counter, Value key) {
  constexpr std::array<unsigned, 8> kRotations = {13, 15, 26, 6, 17, 29, 16, 24};
  constexpr uint64_t kParity = 0x1BD11BDA;
  std::array<Value, 3> keys = {words.low(key), words.high(key), {}};
  keys[2] = words.exclusiveOr(words.exclusiveOr(keys[0], keys[1]), words.constant(32, kParity));
  std::array<Value, 2> x = {words.plus(words.low(counter), keys[0]),
                            words.plus(words.high(counter), keys[1])};
  for (unsigned round = 0; round < 20; ++round) {
    x[0] = words.plus(x[0], x[1]);
    x[1] = words.exclusiveOr(words.rotateLeft(x[1], kRotations[round % 8]), x[0]);
    if (round % 4 == 3) {
      unsigned injection = round / 4 + 1;
      x[0] = words.plus(x[0], keys[injection % 3]);
      x[1] = words.plus(words.plus(x[1], keys[(injection + 1) % 3]), injection);
    }
  }
  return x;
}

// Philox-4x32 with 10 rounds, of the same paper; the counter's lower pair of words comes first.
std::array<Value, 4> philox(Words& words, OpBuilder& builder, Location loc, Value counterLow,
                            Value counterHigh, Value key) {
  constexpr uint64_t kFactors[] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint64_t kWeyl[] = {0x9E3779B9, 0xBB67AE85};
  std::array<Value, 4> x = {words.low(counterLow), words.high(counterLow), words.low(counterHigh),
                            words.high(counterHigh)};
  std::array<Value, 2> keys = {words.low(key), words.high(key)};
  auto product = [&](Value word, uint64_t factor) -> Value {
    return arith::MulIOp::create(builder, loc, words.resized(word, 64), words.constant(64, factor));
  };
  for (unsigned round = 0; round < 10; ++round) {
    Value first = product(x[0], kFactors[0]), second = product(x[2], kFactors[1]);
    x = {words.exclusiveOr(words.exclusiveOr(words.high(second), x[1]), keys[0]), words.low(second),
         words.exclusiveOr(words.exclusiveOr(words.high(first), x[3]), keys[1]), words.low(first)};
    keys = {words.plus(keys[0], kWeyl[0]), words.plus(keys[1], kWeyl[1])};
  }
  return x;
}

// The number of the element that a linalg.generic over `shape` is at, row by row.
Value elementNumber(OpBuilder& builder, Location loc, ArrayRef<int64_t> shape) {
  Value number;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    Value index = linalg::IndexOp::create(builder, loc, dim);
    if (!number) {
      number = index;
      continue;
    }
    Value scaled = arith::MulIOp::create(builder, loc, number, indexConstant(builder, loc, size));
    number = arith::AddIOp::create(builder, loc, scaled, index);
  }
  return number ? number : indexConstant(builder, loc, 0);
}

int64_t sizeOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

// Several tensors of `shape` with integers of `width` bits, all computed by one loop.
Values emitParts(OpBuilder& builder, Location loc, ArrayRef<int64_t> shape, unsigned count,
                 unsigned width,
                 llvm::function_ref<Values(OpBuilder&, Words&, Value number)> body) {
  Values parts;
  for (unsigned part = 0; part < count; ++part)
    parts.push_back(tensor::EmptyOp::create(builder, loc, shape, builder.getIntegerType(width)));
  SmallVector<AffineMap> maps(count, builder.getMultiDimIdentityMap(shape.size()));
  SmallVector<utils::IteratorType> iterators(shape.size(), utils::IteratorType::parallel);
  auto generic =
      linalg::GenericOp::create(builder, loc, TypeRange(ValueRange(parts)), ValueRange{}, parts,
                                maps, iterators, [&](OpBuilder& inner, Location where, ValueRange) {
                                  Words words(inner, where);
                                  Value number =
                                      words.fromIndex(elementNumber(inner, where, shape));
                                  linalg::YieldOp::create(inner, where, body(inner, words, number));
                                });
  return Values(generic.getResults());
}

// Deals the parts out along `dim`: the first of each, the second of each, and so on; cut off where
// `shape` ends.
Value interleave(OpBuilder& builder, Location loc, ValueRange parts, int64_t dim,
                 ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(parts[0].getType());
  SmallVector<int64_t> wide(type.getShape());
  wide.insert(wide.begin() + dim + 1, int64_t(parts.size()));
  Value all = tensor::EmptyOp::create(builder, loc, wide, type.getElementType());
  SmallVector<int64_t> sizes = wide, offsets(wide.size(), 0), ones(wide.size(), 1);
  sizes[dim + 1] = 1;
  for (auto [number, part] : llvm::enumerate(parts)) {
    offsets[dim + 1] = int64_t(number);
    all = tensor::InsertSliceOp::create(builder, loc, part, all, indexAttrs(builder, offsets),
                                        indexAttrs(builder, sizes), indexAttrs(builder, ones));
  }
  SmallVector<int64_t> dealt(type.getShape());
  dealt[dim] *= int64_t(parts.size());
  all = reshaped(builder, loc, all, dealt);
  if (ArrayRef<int64_t>(dealt) == shape)
    return all;
  return firstPart(builder, loc, all, shape);
}

// Bits, and how many counters they took.
struct Bits {
  Value tensor;
  uint64_t counters;
};

// XLA's order. With 64 bits each element has its own counter. With 32 the two words of a counter go
// to neighbours along the first dimension of even size, or the largest one if all are odd.
Bits emitThreeFry(OpBuilder& builder, Location loc, Value key, Value counter,
                  ArrayRef<int64_t> shape, unsigned width) {
  auto wordsAt = [&](Words& words, Value number) {
    return threeFry(words, words.plus(counter, number), key);
  };
  if (width == 64) {
    Values bits =
        emitParts(builder, loc, shape, 1, 64, [&](OpBuilder&, Words& words, Value number) {
          auto x = wordsAt(words, number);
          return Values{words.pair(x[0], x[1])};
        });
    return {bits[0], uint64_t(sizeOf(shape))};
  }
  SmallVector<int64_t> half(shape);
  if (half.empty())
    half.push_back(1);
  size_t split = 0;
  for (size_t dim = 0; dim < half.size(); ++dim)
    if (half[dim] > half[split])
      split = dim;
  for (size_t dim = half.size(); dim-- > 0;)
    if (half[dim] % 2 == 0)
      split = dim;
  half[split] = llvm::divideCeil(half[split], 2);
  Values parts = emitParts(builder, loc, half, 2, 32, [&](OpBuilder&, Words& words, Value number) {
    auto x = wordsAt(words, number);
    return Values{x[0], x[1]};
  });
  auto counters = uint64_t(sizeOf(half));
  if (shape.empty())
    return {reshaped(builder, loc, parts[0], shape), counters};
  return {interleave(builder, loc, parts, split, shape), counters};
}

// XLA's order: the words of one counter after the other, row by row.
Bits emitPhilox(OpBuilder& builder, Location loc, Value key, Value counterLow, Value counterHigh,
                ArrayRef<int64_t> shape, unsigned width) {
  int64_t count = sizeOf(shape), perCounter = width == 64 ? 2 : 4;
  int64_t counters = llvm::divideCeil(count, perCounter);
  Values parts = emitParts(builder, loc, {counters}, perCounter, width == 64 ? 64 : 32,
                           [&](OpBuilder& inner, Words& words, Value number) {
                             Value low = words.plus(counterLow, number);
                             Value carry = arith::CmpIOp::create(
                                 inner, loc, arith::CmpIPredicate::ult, low, counterLow);
                             Value high = words.plus(counterHigh, words.resized(carry, 64));
                             auto x = philox(words, inner, loc, low, high, key);
                             if (width == 64)
                               return Values{words.pair(x[0], x[1]), words.pair(x[2], x[3])};
                             return Values{x[0], x[1], x[2], x[3]};
                           });
  Value line = interleave(builder, loc, parts, 0, {count});
  return {reshaped(builder, loc, line, shape), uint64_t(counters)};
}

class RngBitGeneratorLowering : public OpConversionPattern<stablehlo::RngBitGeneratorOp> {
public:
  using OpConversionPattern::OpConversionPattern;

  // The state is the key and then the counter. DEFAULT is PHILOX, as on XLA's CPU and GPU. With a
  // state of two elements PHILOX takes the key for the counter's upper half too, again as XLA does.
  LogicalResult matchAndRewrite(stablehlo::RngBitGeneratorOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    auto stateType = dyn_cast<RankedTensorType>(adaptor.getInitialState().getType());
    auto result = dyn_cast_or_null<RankedTensorType>(
        getTypeConverter()->convertType(op.getOutput().getType()));
    bool isThreeFry = op.getRngAlgorithm() == stablehlo::RngAlgorithm::THREE_FRY;
    if (!stateType || !result || !stateType.getElementType().isInteger(64) ||
        stateType.getRank() != 1 ||
        (stateType.getDimSize(0) != 2 && (isThreeFry || stateType.getDimSize(0) != 3)))
      return op.emitError("an rng_bit_generator with such a state or output has no lowering");
    Type element = result.getElementType();
    if (!element.isIntOrFloat() ||
        element != storageType(cast<ShapedType>(op.getOutput().getType()).getElementType()) ||
        element.isInteger(1) ||
        (element.getIntOrFloatBitWidth() > 32 && element.getIntOrFloatBitWidth() != 64))
      return op.emitError("an rng_bit_generator of this element type has no lowering");
    unsigned width = element.getIntOrFloatBitWidth();
    Location loc = op.getLoc();
    auto stateAt = [&](int64_t place) -> Value {
      return tensor::ExtractOp::create(rewriter, loc, adaptor.getInitialState(),
                                       ValueRange{indexConstant(rewriter, loc, place)});
    };
    bool isLong = stateType.getDimSize(0) == 3;
    Value key = stateAt(0), low = stateAt(1), high = isLong ? stateAt(2) : key;
    unsigned drawn = width == 64 ? 64 : 32;
    Bits bits = isThreeFry ? emitThreeFry(rewriter, loc, key, low, result.getShape(), drawn)
                           : emitPhilox(rewriter, loc, key, low, high, result.getShape(), drawn);

    Words words(rewriter, loc);
    Value newLow = words.plus(low, bits.counters);
    Values state = {key, newLow};
    if (isLong) {
      Value carry = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, newLow, low);
      state.push_back(words.plus(high, words.resized(carry, 64)));
    }
    Value newState = tensor::FromElementsOp::create(rewriter, loc, stateType, state);
    Value output = bits.tensor;
    if (!element.isInteger(drawn))
      output = mapElements(rewriter, loc, result.getShape(), element, output,
                           [&](OpBuilder& inner, ValueRange elements) {
                             Value cut = Words(inner, loc).resized(elements[0], width);
                             if (isa<IntegerType>(element))
                               return cut;
                             return arith::BitcastOp::create(inner, loc, element, cut).getResult();
                           });
    rewriter.replaceOp(op, {newState, output});
    return success();
  }
};

// The numbers of `rng` are the implementation's choice. Here they are a function of the operation's
// place among those of its module and of the element's: the same in every run and every evaluation.
class RngLowering : public OpConversionPattern<stablehlo::RngOp> {
public:
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::RngOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    auto result = dyn_cast_or_null<RankedTensorType>(
        getTypeConverter()->convertType(op.getResult().getType()));
    Type element = cast<ShapedType>(op.getResult().getType()).getElementType();
    bool isNormal = op.getRngDistribution() == stablehlo::RngDistribution::NORMAL;
    if (!result || !element.isIntOrFloat() || (isNormal && !isa<FloatType>(element)))
      return op.emitError("an rng of this type has no lowering");
    Location loc = op.getLoc();
    uint64_t ordinal = drawn_++;
    Value a = tensor::ExtractOp::create(rewriter, loc, adaptor.getA(), ValueRange{});
    Value b = tensor::ExtractOp::create(rewriter, loc, adaptor.getB(), ValueRange{});
    Value numbers = mapElements(
        rewriter, loc, result.getShape(), result.getElementType(), {},
        [&](OpBuilder& inner, ValueRange) {
          Words words(inner, loc);
          Value place = words.fromIndex(elementNumber(inner, loc, result.getShape()));
          auto bits = threeFry(words, place, words.constant(64, ordinal));
          if (isa<IntegerType>(element))
            return uniformInteger(inner, loc, words, bits, a, b);
          Value first = decode(inner, loc, element, a), second = decode(inner, loc, element, b);
          Value number =
              isNormal ? normal(inner, loc, words, bits, first, second)
                       : uniform(inner, loc, words, bits, cast<FloatType>(element), first, second);
          return encode(inner, loc, element, number);
        });
    rewriter.replaceOp(op, numbers);
    return success();
  }

private:
  // `bits` as a number of `type` in [0, 1), or in (0, 1] if it `endsAtOne`.
  static Value fraction(OpBuilder& builder, Location loc, Words& words, Value bits,
                        unsigned precision, Type type, bool endsAtOne = false) {
    unsigned width = bits.getType().getIntOrFloatBitWidth();
    if (precision < width)
      bits = words.shiftRight(bits, width - precision);
    Numbers numbers(builder, loc);
    Value number = arith::UIToFPOp::create(builder, loc, type, bits);
    if (endsAtOne)
      number = numbers.plus(number, numbers.constant(type, 1));
    return numbers.times(number, numbers.constant(type, std::ldexp(1.0, -int(precision))));
  }

  static Value uniform(OpBuilder& builder, Location loc, Words& words,
                       const std::array<Value, 2>& bits, FloatType element, Value a, Value b) {
    Type type = a.getType();
    // As many bits as the element has, so that the narrowing afterwards does not round up.
    unsigned precision = std::min(element.getFPMantissaWidth(), type.isF64() ? 53U : 24U);
    Value source = type.isF64() ? words.pair(bits[0], bits[1]) : bits[0];
    Numbers numbers(builder, loc);
    Value part = fraction(builder, loc, words, source, precision, type);
    Value number = numbers.plus(a, numbers.times(part, numbers.minus(b, a)));
    // The sum may round to `b`, which is not in the interval.
    Value inside = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, number, b);
    return arith::SelectOp::create(builder, loc, inside, number, a);
  }

  // The method of Box and Muller.
  static Value normal(OpBuilder& builder, Location loc, Words& words,
                      const std::array<Value, 2>& bits, Value mean, Value deviation) {
    Type type = mean.getType();
    unsigned precision = type.isF64() ? 32 : 24;
    Numbers numbers(builder, loc);
    Value length = fraction(builder, loc, words, bits[0], precision, type, true);
    length = math::LogOp::create(builder, loc, length);
    length = numbers.times(length, numbers.constant(type, -2));
    length = math::SqrtOp::create(builder, loc, length);
    Value angle = fraction(builder, loc, words, bits[1], precision, type);
    angle = numbers.times(angle, numbers.constant(type, 2 * std::numbers::pi));
    angle = math::CosOp::create(builder, loc, angle);
    return numbers.plus(mean, numbers.times(deviation, numbers.times(length, angle)));
  }

  // a + bits mod (b - a), which is a where the interval is empty.
  static Value uniformInteger(OpBuilder& builder, Location loc, Words& words,
                              const std::array<Value, 2>& bits, Value a, Value b) {
    unsigned width = a.getType().getIntOrFloatBitWidth();
    Value range = words.resized(arith::SubIOp::create(builder, loc, b, a), 64);
    Value zero = words.constant(64, 0);
    Value none = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, range, zero);
    range = arith::SelectOp::create(builder, loc, none, words.constant(64, 1), range);
    Value offset = arith::RemUIOp::create(builder, loc, words.pair(bits[0], bits[1]), range);
    return words.plus(a, words.resized(offset, width));
  }

  mutable uint64_t drawn_ = 0;
};

} // namespace

void populateRandom(LoweringTypes& types, RewritePatternSet& patterns) {
  patterns.add<RngBitGeneratorLowering, RngLowering>(types, patterns.getContext());
}

} // namespace nocturne::compiler
