#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

#include "compiler/dialect/AttrHelpers.h"
#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/families.h"
#include "compiler/lowering/loops.h"
#include "compiler/lowering/numbers.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

using Complex = std::complex<double>;

// exp(sign 2 pi i step / n).
Complex root(int64_t step, int64_t n, int sign) {
  step %= n;
  long double angle = 2.0L * std::numbers::pi_v<long double> * static_cast<long double>(step) /
                      static_cast<long double>(n);
  return {static_cast<double>(std::cos(angle)), sign * static_cast<double>(std::sin(angle))};
}

// The transform of a table that is built into the code; its length is a power of two.
void transform(std::vector<Complex>& values) {
  int64_t n = values.size();
  if (n == 1)
    return;
  std::vector<Complex> even(n / 2), odd(n / 2);
  for (int64_t i = 0; i < n / 2; ++i) {
    even[i] = values[2 * i];
    odd[i] = values[2 * i + 1];
  }
  transform(even);
  transform(odd);
  for (int64_t k = 0; k < n / 2; ++k) {
    Complex turned = root(k, n, -1) * odd[k];
    values[k] = even[k] + turned;
    values[k + n / 2] = even[k] - turned;
  }
}

// Lengths with a larger prime factor are transformed by way of a power of two.
constexpr int64_t kLargestRadix = 64;

// 4 as often as possible, then the primes in ascending order.
SmallVector<int64_t> radicesOf(int64_t n) {
  SmallVector<int64_t> radices;
  for (; n % 4 == 0; n /= 4)
    radices.push_back(4);
  for (int64_t prime = 2; n > 1; ++prime) {
    if (prime * prime > n)
      prime = n;
    for (; n % prime == 0; n /= prime)
      radices.push_back(prime);
  }
  return radices;
}

// Emits transforms along one dimension of complex tensors, seen as (outer, n, inner).
class FourierEmitter {
public:
  FourierEmitter(OpBuilder& builder, Location loc, FloatType real)
      : builder_(builder), loc_(loc), real_(real), complex_(ComplexType::get(real)) {}

  // `sign` is that of the exponent: -1 is the forward transform. Nothing is scaled.
  Value emit(Value tensor, int64_t dim, int sign) {
    auto shape = SmallVector<int64_t>(cast<RankedTensorType>(tensor.getType()).getShape());
    int64_t outer = 1, n = shape[dim], inner = 1;
    for (int64_t size : ArrayRef(shape).take_front(dim))
      outer *= size;
    for (int64_t size : ArrayRef(shape).drop_front(dim + 1))
      inner *= size;
    Value line = reshaped(builder_, loc_, tensor, {outer, n, inner});
    return reshaped(builder_, loc_, lines(line, outer, n, inner, sign), shape);
  }

private:
  // A table of roots as two tensors of real numbers.
  std::pair<Value, Value> table(ArrayRef<int64_t> shape, ArrayRef<Complex> values) {
    auto type = RankedTensorType::get(shape, real_);
    auto make = [&](auto part) -> Value {
      SmallVector<APFloat> numbers;
      for (const Complex& value : values) {
        APFloat number(part(value));
        bool inexact;
        number.convert(real_.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
        numbers.push_back(number);
      }
      return arith::ConstantOp::create(builder_, loc_, DenseElementsAttr::get(type, numbers));
    };
    return {make([](const Complex& c) { return c.real(); }),
            make([](const Complex& c) { return c.imag(); })};
  }

  AffineMap map(unsigned loops, ArrayRef<unsigned> dims) {
    SmallVector<AffineExpr> exprs;
    for (unsigned dim : dims)
      exprs.push_back(builder_.getAffineDimExpr(dim));
    return AffineMap::get(loops, 0, exprs, builder_.getContext());
  }

  Value empty(ArrayRef<int64_t> shape) {
    return tensor::EmptyOp::create(builder_, loc_, shape, complex_);
  }

  Value lines(Value line, int64_t outer, int64_t n, int64_t inner, int sign) {
    SmallVector<int64_t> radices = radicesOf(n);
    if (!radices.empty() && radices.back() > kLargestRadix)
      return chirp(line, outer, n, inner, sign);
    // Stockham's arrangement: a stage takes x(j, i, q) to y(i, k, q) with j and k below the radix,
    // q counting what earlier stages have made, so that the last stage leaves all in order. Between
    // the stages only the view changes.
    int64_t rest = n, made = inner;
    for (int64_t radix : radices) {
      rest /= radix;
      line = reshaped(builder_, loc_, line, {outer, radix, rest, made});
      line = radix == 2 || radix == 4 ? butterfly(line, sign) : denseStage(line, sign);
      made *= radix;
      line = reshaped(builder_, loc_, line, {outer, n, inner});
    }
    return line;
  }

  // y(i, k, q) = root(i k, n) sum over j of root(j k, radix) x(j, i, q), with n the rest times the
  // radix, for radix 2 and 4: the sums are written out.
  Value butterfly(Value x, int sign) {
    auto type = cast<RankedTensorType>(x.getType());
    int64_t outer = type.getDimSize(0), radix = type.getDimSize(1), rest = type.getDimSize(2),
            made = type.getDimSize(3), n = rest * radix;
    SmallVector<OpFoldResult> ones = indexAttrs(builder_, {1, 1, 1, 1});
    auto partType = RankedTensorType::get({outer, rest, made}, complex_);
    SmallVector<OpFoldResult> inSizes = indexAttrs(builder_, {outer, 1, rest, made});
    SmallVector<OpFoldResult> outSizes = indexAttrs(builder_, {outer, rest, 1, made});
    Values inputs, outputs;
    SmallVector<AffineMap> maps;
    AffineMap all = builder_.getMultiDimIdentityMap(3);
    for (int64_t j = 0; j < radix; ++j) {
      SmallVector<OpFoldResult> offsets = indexAttrs(builder_, {0, j, 0, 0});
      inputs.push_back(
          tensor::ExtractSliceOp::create(builder_, loc_, partType, x, offsets, inSizes, ones));
      maps.push_back(all);
    }
    for (int64_t k = 1; k < radix; ++k) {
      std::vector<Complex> roots;
      for (int64_t i = 0; i < rest; ++i)
        roots.push_back(root(i * k, n, sign));
      auto [re, im] = table({rest}, roots);
      inputs.append({re, im});
      maps.append(2, map(3, {1}));
    }
    Value y = empty({outer, rest, radix, made});
    for (int64_t k = 0; k < radix; ++k) {
      outputs.push_back(empty(partType.getShape()));
      maps.push_back(all);
    }
    SmallVector<utils::IteratorType> iterators(3, utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        builder_, loc_, TypeRange(ValueRange(outputs)), inputs, outputs, maps, iterators,
        [&](OpBuilder& inner, Location where, ValueRange elements) {
          Numbers numbers(inner, where);
          SmallVector<Number> sums = smallTransform(numbers, elements.take_front(radix), sign);
          Values results = {numbers.put(sums[0])};
          for (int64_t k = 1; k < radix; ++k) {
            Number turn = {elements[radix + 2 * (k - 1)], elements[radix + 2 * (k - 1) + 1]};
            results.push_back(numbers.put(numbers.times(sums[k], turn)));
          }
          linalg::YieldOp::create(inner, where, results);
        });
    for (int64_t k = 0; k < radix; ++k) {
      SmallVector<OpFoldResult> offsets = indexAttrs(builder_, {0, 0, k, 0});
      y = tensor::InsertSliceOp::create(builder_, loc_, generic.getResult(k), y, offsets, outSizes,
                                        ones);
    }
    return y;
  }

  static SmallVector<Number> smallTransform(Numbers& numbers, ValueRange elements, int sign) {
    SmallVector<Number> x;
    for (Value element : elements)
      x.push_back(numbers.take(element));
    if (x.size() == 2)
      return {numbers.plus(x[0], x[1]), numbers.minus(x[0], x[1])};
    Number even = numbers.plus(x[0], x[2]), evenGap = numbers.minus(x[0], x[2]);
    Number odd = numbers.plus(x[1], x[3]), oddGap = numbers.minus(x[1], x[3]);
    // Times sign i.
    Number turned = sign < 0 ? Number{oddGap.im, numbers.negated(oddGap.re)}
                             : Number{numbers.negated(oddGap.im), oddGap.re};
    return {numbers.plus(even, odd), numbers.plus(evenGap, turned), numbers.minus(even, odd),
            numbers.minus(evenGap, turned)};
  }

  // The same for any radix, with both roots in one table.
  Value denseStage(Value x, int sign) {
    auto type = cast<RankedTensorType>(x.getType());
    int64_t outer = type.getDimSize(0), radix = type.getDimSize(1), rest = type.getDimSize(2),
            made = type.getDimSize(3), n = rest * radix;
    std::vector<Complex> roots;
    for (int64_t i = 0; i < rest; ++i)
      for (int64_t k = 0; k < radix; ++k)
        for (int64_t j = 0; j < radix; ++j)
          roots.push_back(root(k * (i + rest * j), n, sign));
    auto [re, im] = table({rest, radix, radix}, roots);
    Value zero = complex::ConstantOp::create(
        builder_, loc_, complex_,
        builder_.getArrayAttr({builder_.getFloatAttr(real_, 0), builder_.getFloatAttr(real_, 0)}));
    Value y = empty({outer, rest, radix, made});
    y = linalg::FillOp::create(builder_, loc_, ValueRange{zero}, ValueRange{y}).getResult(0);
    // Loops: outer, i, k, j, q.
    SmallVector<AffineMap> maps = {map(5, {0, 3, 1, 4}), map(5, {1, 2, 3}), map(5, {1, 2, 3}),
                                   map(5, {0, 1, 2, 4})};
    SmallVector<utils::IteratorType> iterators(5, utils::IteratorType::parallel);
    iterators[3] = utils::IteratorType::reduction;
    auto generic = linalg::GenericOp::create(
        builder_, loc_, TypeRange{y.getType()}, ValueRange{x, re, im}, ValueRange{y}, maps,
        iterators, [&](OpBuilder& inner, Location where, ValueRange elements) {
          Numbers numbers(inner, where);
          Number term = numbers.times(numbers.take(elements[0]), {elements[1], elements[2]});
          Number sum = numbers.plus(numbers.take(elements[3]), term);
          linalg::YieldOp::create(inner, where, numbers.put(sum));
        });
    return generic.getResult(0);
  }

  // `line` times a table along its middle dimension.
  Value timesTable(Value line, ArrayRef<int64_t> shape, ArrayRef<Complex> values) {
    auto [re, im] = table({int64_t(values.size())}, values);
    Value init = empty(shape);
    SmallVector<AffineMap> maps = {builder_.getMultiDimIdentityMap(3), map(3, {1}), map(3, {1}),
                                   builder_.getMultiDimIdentityMap(3)};
    SmallVector<utils::IteratorType> iterators(3, utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        builder_, loc_, TypeRange{init.getType()}, ValueRange{line, re, im}, ValueRange{init}, maps,
        iterators, [&](OpBuilder& inner, Location where, ValueRange elements) {
          Numbers numbers(inner, where);
          Number product = numbers.times(numbers.take(elements[0]), {elements[1], elements[2]});
          linalg::YieldOp::create(inner, where, numbers.put(product));
        });
    return generic.getResult(0);
  }

  // Bluestein's method: with j k = (j^2 + k^2 - (k - j)^2) / 2 the transform is a convolution with
  // a chirp, which two transforms of a power of two compute.
  Value chirp(Value line, int64_t outer, int64_t n, int64_t inner, int sign) {
    int64_t padded = llvm::PowerOf2Ceil(2 * n - 1);
    std::vector<Complex> turns, kernel(padded);
    for (int64_t i = 0; i < n; ++i)
      turns.push_back(root(i * i, 2 * n, sign));
    for (int64_t i = 0; i < n; ++i) {
      kernel[i] = std::conj(turns[i]) / double(padded); // the inverse transform does not scale
      kernel[(padded - i) % padded] = kernel[i];
    }
    transform(kernel);

    Value turned = timesTable(line, {outer, n, inner}, turns);
    Numbers numbers(builder_, loc_);
    Value none = numbers.constant(real_, 0);
    Value zero = complex::CreateOp::create(builder_, loc_, complex_, none, none);
    Value wide = empty({outer, padded, inner});
    wide = linalg::FillOp::create(builder_, loc_, ValueRange{zero}, ValueRange{wide}).getResult(0);
    wide = tensor::InsertSliceOp::create(
        builder_, loc_, turned, wide, indexAttrs(builder_, {0, 0, 0}),
        indexAttrs(builder_, {outer, n, inner}), indexAttrs(builder_, {1, 1, 1}));
    wide = lines(wide, outer, padded, inner, -1);
    wide = timesTable(wide, {outer, padded, inner}, kernel);
    wide = lines(wide, outer, padded, inner, 1);
    Value result = firstPart(builder_, loc_, wide, {outer, n, inner});
    return timesTable(result, {outer, n, inner}, turns);
  }

  OpBuilder& builder_;
  Location loc_;
  FloatType real_;
  ComplexType complex_;
};

class FftLowering : public OpConversionPattern<stablehlo::FftOp> {
public:
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::FftOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    auto operand = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
    auto result = dyn_cast_or_null<RankedTensorType>(
        getTypeConverter()->convertType(op.getResult().getType()));
    SmallVector<int64_t> lengths = stablehlo::readI64List(op->getAttr("fft_length"));
    auto count = int64_t(lengths.size());
    if (!operand || !result || !operand.hasStaticShape() || count == 0 || count > operand.getRank())
      return op.emitError("an fft of such a tensor has no lowering");
    Type element = operand.getElementType();
    if (auto complex = dyn_cast<ComplexType>(element))
      element = complex.getElementType();
    auto real = dyn_cast<FloatType>(element);
    if (!real)
      return op.emitError("an fft of this element type has no lowering");
    Location loc = op.getLoc();
    if (result.getNumElements() == 0) {
      rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, result.getShape(), result.getElementType());
      return success();
    }
    FourierEmitter fourier(rewriter, loc, real);
    int64_t last = operand.getRank() - 1, first = operand.getRank() - count;
    double total = 1;
    for (int64_t length : lengths)
      total *= double(length);

    Value value = adaptor.getOperand();
    switch (op.getFftType()) {
    case stablehlo::FftType::FFT:
    case stablehlo::FftType::IFFT: {
      int sign = op.getFftType() == stablehlo::FftType::FFT ? -1 : 1;
      for (int64_t dim = last; dim >= first; --dim)
        value = fourier.emit(value, dim, sign);
      if (sign > 0)
        value = scaled(rewriter, loc, value, result, 1 / total);
      break;
    }
    case stablehlo::FftType::RFFT:
      value = fourier.emit(asComplex(rewriter, loc, value, operand), last, -1);
      value = firstHalf(rewriter, loc, value, result);
      for (int64_t dim = last - 1; dim >= first; --dim)
        value = fourier.emit(value, dim, -1);
      break;
    case stablehlo::FftType::IRFFT:
      for (int64_t dim = first; dim < last; ++dim)
        value = fourier.emit(value, dim, 1);
      value = fourier.emit(mirrored(rewriter, loc, value, result), last, 1);
      value = scaled(rewriter, loc, value, result, 1 / total);
      break;
    }
    rewriter.replaceOp(op, value);
    return success();
  }

private:
  // The value times a factor; its real part alone where the result is real.
  static Value scaled(OpBuilder& builder, Location loc, Value value, RankedTensorType result,
                      double factor) {
    Type element = result.getElementType();
    return mapElements(builder, loc, result.getShape(), element, value,
                       [&](OpBuilder& inner, ValueRange elements) {
                         Numbers numbers(inner, loc);
                         Number number = numbers.take(elements[0]);
                         if (!isa<ComplexType>(element))
                           number.im = {};
                         Value by = numbers.constant(number.re.getType(), factor);
                         return numbers.put(numbers.scaled(number, by));
                       });
  }

  static Value asComplex(OpBuilder& builder, Location loc, Value value, RankedTensorType type) {
    Type real = type.getElementType();
    return mapElements(builder, loc, type.getShape(), ComplexType::get(real), value,
                       [&](OpBuilder& inner, ValueRange elements) {
                         Numbers numbers(inner, loc);
                         return numbers.put({elements[0], numbers.constant(real, 0)});
                       });
  }

  // The part of a real signal's transform that the rest mirrors. The first element and, for an even
  // length, the middle one mirror themselves: they are real, whatever rounding has left.
  static Value firstHalf(OpBuilder& builder, Location loc, Value value, RankedTensorType result) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t last = type.getRank() - 1, n = type.getDimSize(last);
    SmallVector<int64_t> shape(type.getShape());
    shape.back() = result.getShape().back();
    Value half = firstPart(builder, loc, value, shape);
    return mapElements(builder, loc, shape, type.getElementType(), half,
                       [&](OpBuilder& inner, ValueRange elements) {
                         Numbers numbers(inner, loc);
                         Number number = numbers.take(elements[0]);
                         Value index = linalg::IndexOp::create(inner, loc, last);
                         auto isAt = [&](int64_t place) -> Value {
                           return arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq, index,
                                                        indexConstant(inner, loc, place));
                         };
                         Value isReal = isAt(0);
                         if (n % 2 == 0)
                           isReal = arith::OrIOp::create(inner, loc, isReal, isAt(n / 2));
                         Value zero = numbers.constant(number.im.getType(), 0);
                         number.im = arith::SelectOp::create(inner, loc, isReal, zero, number.im);
                         return numbers.put(number);
                       });
  }

  // A whole transform from its first half: element n - k is the conjugate of element k.
  static Value mirrored(OpBuilder& builder, Location loc, Value half, RankedTensorType result) {
    auto type = cast<RankedTensorType>(half.getType());
    int64_t last = result.getRank() - 1, n = result.getDimSize(last);
    return mapElements(
        builder, loc, result.getShape(), type.getElementType(), {},
        [&](OpBuilder& inner, ValueRange) {
          Values at;
          for (int64_t dim = 0; dim <= last; ++dim)
            at.push_back(linalg::IndexOp::create(inner, loc, dim));
          Value present = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ult, at[last],
                                                indexConstant(inner, loc, type.getDimSize(last)));
          Value other = arith::SubIOp::create(inner, loc, indexConstant(inner, loc, n), at[last]);
          at[last] = arith::SelectOp::create(inner, loc, present, at[last], other);
          Value element = tensor::ExtractOp::create(inner, loc, half, at);
          Numbers numbers(inner, loc);
          Value conjugate = numbers.put(numbers.conjugate(numbers.take(element)));
          return arith::SelectOp::create(inner, loc, present, element, conjugate).getResult();
        });
  }
};

} // namespace

void populateFft(LoweringTypes& types, RewritePatternSet& patterns) {
  patterns.add<FftLowering>(types, patterns.getContext());
}

} // namespace nocturne::compiler
