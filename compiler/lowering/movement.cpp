// Moving data: slices, padding, concatenation, reversal. Where a piece of a tensor becomes a piece
// of another, tensor.extract_slice and tensor.insert_slice say so, which bufferization turns into
// views and single copies.
#include <algorithm>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

#include "compiler/dialect/AttrHelpers.h"
#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/families.h"
#include "compiler/lowering/loops.h"
#include "compiler/lowering/patterns.h"
#include "compiler/lowering/scalars.h"
#include "compiler/lowering/tensors.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// Offsets, sizes and strides of a slice.
struct Ranges {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  void add(OpFoldResult offset, OpFoldResult size, OpFoldResult stride) {
    offsets.push_back(offset);
    sizes.push_back(size);
    strides.push_back(stride);
  }
};

Value extractSlice(OpBuilder& builder, Location loc, RankedTensorType type, Value source,
                   const Ranges& ranges) {
  return tensor::ExtractSliceOp::create(builder, loc, type, source, ranges.offsets, ranges.sizes,
                                        ranges.strides);
}

Value insertSlice(OpBuilder& builder, Location loc, Value source, Value target,
                  const Ranges& ranges) {
  return tensor::InsertSliceOp::create(builder, loc, source, target, ranges.offsets, ranges.sizes,
                                       ranges.strides);
}

//===------------------------------------------------------------------------------------------===//
// Slices
//===------------------------------------------------------------------------------------------===//

struct SlicePattern : TensorPattern<stablehlo::SliceOp> {
  using TensorPattern::TensorPattern;

  Value emit(stablehlo::SliceOp op, OpAdaptor adaptor, RankedTensorType type,
             ConversionPatternRewriter& rewriter) const override {
    SmallVector<int64_t> starts = stablehlo::readI64List(op.getStartIndices());
    SmallVector<int64_t> strides = stablehlo::readI64List(op.getStrides());
    Ranges ranges;
    for (auto [start, size, stride] : llvm::zip(starts, type.getShape(), strides))
      ranges.add(rewriter.getIndexAttr(start), rewriter.getIndexAttr(size),
                 rewriter.getIndexAttr(stride));
    return extractSlice(rewriter, op.getLoc(), type, adaptor.getOperand(), ranges);
  }
};

// Where a slice of `sizes` starts, moved so that it is inside of `operand`. `starts` are held
// tensors of rank 0, `starts` types with their sign are in `startTypes`.
Ranges clampedRanges(OpBuilder& builder, Location loc, Value operand, ValueRange starts,
                     TypeRange startTypes, ArrayRef<int64_t> sizes) {
  Ranges ranges;
  auto shape = cast<RankedTensorType>(operand.getType()).getShape();
  for (auto [extent, start, startType, size] : llvm::zip(shape, starts, startTypes, sizes)) {
    OpFoldResult offset = builder.getIndexAttr(0);
    if (extent != size)
      offset = clampedIndex(builder, loc, scalarOf(builder, loc, start),
                            elementTypeOf(startType).isUnsignedInteger(), extent - size);
    ranges.add(offset, builder.getIndexAttr(size), builder.getIndexAttr(1));
  }
  return ranges;
}

struct DynamicSlicePattern : TensorPattern<stablehlo::DynamicSliceOp> {
  using TensorPattern::TensorPattern;

  Value emit(stablehlo::DynamicSliceOp op, OpAdaptor adaptor, RankedTensorType type,
             ConversionPatternRewriter& rewriter) const override {
    Value operand = adaptor.getOperand();
    Ranges ranges = clampedRanges(rewriter, op.getLoc(), operand, adaptor.getStartIndices(),
                                  op.getStartIndices().getTypes(), type.getShape());
    return extractSlice(rewriter, op.getLoc(), type, operand, ranges);
  }
};

struct DynamicUpdateSlicePattern : TensorPattern<stablehlo::DynamicUpdateSliceOp> {
  using TensorPattern::TensorPattern;

  Value emit(stablehlo::DynamicUpdateSliceOp op, OpAdaptor adaptor, RankedTensorType,
             ConversionPatternRewriter& rewriter) const override {
    Value operand = adaptor.getOperand(), update = adaptor.getUpdate();
    Ranges ranges = clampedRanges(rewriter, op.getLoc(), operand, adaptor.getStartIndices(),
                                  op.getStartIndices().getTypes(), shapeOf(update));
    return insertSlice(rewriter, op.getLoc(), update, operand, ranges);
  }
};

// Starts and strides may be computed as long as the type tells how large the result is.
struct RealDynamicSlicePattern : TensorPattern<stablehlo::RealDynamicSliceOp> {
  using TensorPattern::TensorPattern;

  Value emit(stablehlo::RealDynamicSliceOp op, OpAdaptor adaptor, RankedTensorType type,
             ConversionPatternRewriter& rewriter) const override {
    Location loc = op.getLoc();
    auto numberAt = [&](Value list, size_t place, Type element) -> OpFoldResult {
      DenseIntElementsAttr constant;
      if (matchPattern(list, m_Constant(&constant))) {
        APInt number = constant.getValues<APInt>()[place];
        return rewriter.getIndexAttr(element.isUnsignedInteger() ? int64_t(number.getZExtValue())
                                                                 : number.getSExtValue());
      }
      Value index = indexConstant(rewriter, loc, int64_t(place));
      return toIndex(rewriter, loc, element, tensor::ExtractOp::create(rewriter, loc, list, index));
    };
    Type start = elementTypeOf(op.getStartIndices().getType());
    Type stride = elementTypeOf(op.getStrides().getType());
    Ranges ranges;
    for (auto [place, size] : llvm::enumerate(type.getShape()))
      ranges.add(numberAt(adaptor.getStartIndices(), place, start), rewriter.getIndexAttr(size),
                 numberAt(adaptor.getStrides(), place, stride));
    return extractSlice(rewriter, loc, type, adaptor.getOperand(), ranges);
  }
};

//===------------------------------------------------------------------------------------------===//
// Padding
//===------------------------------------------------------------------------------------------===//

int64_t ceilDivide(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

struct Padding {
  SmallVector<int64_t> low, high, interior;

  bool isNone() const {
    auto isZero = [](int64_t value) { return value == 0; };
    return llvm::all_of(low, isZero) && llvm::all_of(high, isZero) &&
           llvm::all_of(interior, isZero);
  }
};

// Element i of a dimension goes to low + i * (interior + 1), if that is in the result.
Value padTensor(OpBuilder& builder, Location loc, Value operand, Value paddingScalar,
                RankedTensorType type, const Padding& padding) {
  if (padding.isNone())
    return operand;
  Value padded = filled(builder, loc, type.getShape(), paddingScalar);
  auto from = cast<RankedTensorType>(operand.getType());
  Ranges source, target;
  SmallVector<int64_t> keptShape;
  for (auto [extent, resultExtent, low, interior] :
       llvm::zip(from.getShape(), type.getShape(), padding.low, padding.interior)) {
    int64_t step = interior + 1;
    int64_t first = low < 0 ? ceilDivide(-low, step) : 0;
    // One past the last element that is in the result.
    int64_t end = std::min(extent, ceilDivide(std::max<int64_t>(resultExtent - low, 0), step));
    int64_t kept = end - first;
    if (kept <= 0)
      return padded;
    keptShape.push_back(kept);
    source.add(builder.getIndexAttr(first), builder.getIndexAttr(kept), builder.getIndexAttr(1));
    target.add(builder.getIndexAttr(low + first * step), builder.getIndexAttr(kept),
               builder.getIndexAttr(step));
  }
  RankedTensorType keptType = from.clone(keptShape);
  Value kept = keptType == from ? operand : extractSlice(builder, loc, keptType, operand, source);
  // Only cut: the piece is the result.
  if (keptType == type)
    return kept;
  return insertSlice(builder, loc, kept, padded, target);
}

struct PadPattern : TensorPattern<stablehlo::PadOp> {
  using TensorPattern::TensorPattern;

  Value emit(stablehlo::PadOp op, OpAdaptor adaptor, RankedTensorType type,
             ConversionPatternRewriter& rewriter) const override {
    Padding padding{stablehlo::readI64List(op.getEdgePaddingLow()),
                    stablehlo::readI64List(op.getEdgePaddingHigh()),
                    stablehlo::readI64List(op.getInteriorPadding())};
    Value scalar = scalarOf(rewriter, op.getLoc(), adaptor.getPaddingValue());
    return padTensor(rewriter, op.getLoc(), adaptor.getOperand(), scalar, type, padding);
  }
};

struct DynamicPadPattern : TensorPattern<stablehlo::DynamicPadOp> {
  using TensorPattern::TensorPattern;

  Value emit(stablehlo::DynamicPadOp op, OpAdaptor adaptor, RankedTensorType type,
             ConversionPatternRewriter& rewriter) const override {
    Padding padding;
    auto read = [](Value value, SmallVector<int64_t>& numbers) {
      DenseIntElementsAttr constant;
      if (!matchPattern(value, m_Constant(&constant)))
        return false;
      for (const APInt& number : constant.getValues<APInt>())
        numbers.push_back(number.getSExtValue());
      return true;
    };
    if (!read(adaptor.getEdgePaddingLow(), padding.low) ||
        !read(adaptor.getEdgePaddingHigh(), padding.high) ||
        !read(adaptor.getInteriorPadding(), padding.interior)) {
      op.emitError("dynamic_pad by amounts that are not constants has no lowering");
      return {};
    }
    Value scalar = scalarOf(rewriter, op.getLoc(), adaptor.getPaddingValue());
    return padTensor(rewriter, op.getLoc(), adaptor.getOperand(), scalar, type, padding);
  }
};

//===------------------------------------------------------------------------------------------===//
// Concatenation and reversal
//===------------------------------------------------------------------------------------------===//

struct ConcatenatePattern : TensorPattern<stablehlo::ConcatenateOp> {
  using TensorPattern::TensorPattern;

  Value emit(stablehlo::ConcatenateOp op, OpAdaptor adaptor, RankedTensorType type,
             ConversionPatternRewriter& rewriter) const override {
    if (adaptor.getInputs().size() == 1)
      return adaptor.getInputs().front();
    Location loc = op.getLoc();
    Value result = emptyTensor(rewriter, loc, type);
    auto dimension = static_cast<size_t>(op.getDimension());
    int64_t offset = 0;
    for (Value input : adaptor.getInputs()) {
      auto piece = cast<RankedTensorType>(input.getType());
      if (piece.getNumElements() > 0) {
        Ranges ranges;
        for (auto [place, size] : llvm::enumerate(piece.getShape()))
          ranges.add(rewriter.getIndexAttr(place == dimension ? offset : 0),
                     rewriter.getIndexAttr(size), rewriter.getIndexAttr(1));
        result = insertSlice(rewriter, loc, input, result, ranges);
      }
      offset += piece.getShape()[dimension];
    }
    return result;
  }
};

struct ReversePattern : TensorPattern<stablehlo::ReverseOp> {
  using TensorPattern::TensorPattern;

  Value emit(stablehlo::ReverseOp op, OpAdaptor adaptor, RankedTensorType type,
             ConversionPatternRewriter& rewriter) const override {
    SmallVector<int64_t> dimensions = stablehlo::readI64List(op.getDimensions());
    SmallVector<AffineExpr> exprs;
    bool changes = false;
    for (auto [place, extent] : llvm::enumerate(type.getShape())) {
      AffineExpr index = rewriter.getAffineDimExpr(static_cast<unsigned>(place));
      bool turned = extent > 1 && llvm::is_contained(dimensions, int64_t(place));
      exprs.push_back(turned ? (extent - 1) - index : index);
      changes |= turned;
    }
    Value result = adaptor.getOperand();
    if (changes) {
      AffineMap map =
          AffineMap::get(static_cast<unsigned>(type.getRank()), 0, exprs, rewriter.getContext());
      result =
          elementwiseTensor(rewriter, op.getLoc(), type, result, map,
                            [](OpBuilder&, Location, ValueRange elements) { return elements[0]; });
    }
    return result;
  }
};

//===------------------------------------------------------------------------------------------===//
// Elementwise operations some of whose operands may have rank 0
//===------------------------------------------------------------------------------------------===//

// select with one predicate for all, clamp with the same bounds for all.
template <typename OpTy>
struct ScalarOperandPattern : TensorPattern<OpTy> {
  using TensorPattern<OpTy>::TensorPattern;
  using OpAdaptor = typename OpTy::Adaptor;

  Value emit(OpTy op, OpAdaptor adaptor, RankedTensorType type,
             ConversionPatternRewriter& rewriter) const override {
    auto rank = static_cast<unsigned>(type.getRank());
    bool hasScalar = false;
    SmallVector<AffineMap> maps;
    for (Value operand : adaptor.getOperands()) {
      bool isScalar = cast<ShapedType>(operand.getType()).getRank() == 0;
      hasScalar |= isScalar && rank > 0;
      maps.push_back(isScalar ? AffineMap::get(rank, 0, rewriter.getContext())
                              : rewriter.getMultiDimIdentityMap(rank));
    }
    if (!hasScalar)
      return {};
    bool isKnown = true;
    Value result = elementwiseTensor(rewriter, op.getLoc(), type, adaptor.getOperands(), maps,
                                     [&](OpBuilder& builder, Location loc, ValueRange elements) {
                                       // The last element is the output's.
                                       Value value =
                                           emitScalarOp(builder, loc, op, elements.drop_back());
                                       isKnown &= value != nullptr;
                                       return value ? value : elements.back();
                                     });
    if (isKnown)
      return result;
    op.emitError("operation '") << op->getName() << "' has no lowering for elements of type "
                                << elementTypeOf(op.getType());
    return {};
  }
};

} // namespace

void populateMovement(LoweringTypes& types, RewritePatternSet& patterns) {
  MLIRContext* context = patterns.getContext();
  patterns
      .add<SlicePattern, DynamicSlicePattern, DynamicUpdateSlicePattern, RealDynamicSlicePattern,
           PadPattern, DynamicPadPattern, ConcatenatePattern, ReversePattern>(types, context);
  // Before the pattern for operands of one shape.
  patterns.add<ScalarOperandPattern<stablehlo::SelectOp>, ScalarOperandPattern<stablehlo::ClampOp>>(
      types, context, PatternBenefit(2));
}

} // namespace nocturne::compiler
