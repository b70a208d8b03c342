#include "compiler/lowering/families.h"

#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/loops.h"
#include "compiler/lowering/scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// What belongs to what in one scatter.
struct ScatterDims {
  SmallVector<int64_t> updateWindow;    // of the updates: they walk through a window
  SmallVector<int64_t> updateScatter;   // of the updates: they walk through the indices
  SmallVector<int64_t> inserted;        // of the inputs: absent from the updates
  SmallVector<int64_t> inputBatching;   // of the inputs, and ..
  SmallVector<int64_t> indicesBatching; // .. of the indices: walked together
  SmallVector<int64_t> toOperand;       // of the inputs: where each part of an index starts
  int64_t indexVector;
};

ScatterDims readDims(stablehlo::ScatterDimensionNumbersAttr attr, int64_t updateRank) {
  ScatterDims dims;
  llvm::append_range(dims.updateWindow, attr.getUpdateWindowDims());
  llvm::append_range(dims.inserted, attr.getInsertedWindowDims());
  llvm::append_range(dims.inputBatching, attr.getInputBatchingDims());
  llvm::append_range(dims.indicesBatching, attr.getScatterIndicesBatchingDims());
  llvm::append_range(dims.toOperand, attr.getScatterDimsToOperandDims());
  dims.indexVector = attr.getIndexVectorDim();
  for (int64_t dim = 0; dim < updateRank; ++dim)
    if (!llvm::is_contained(dims.updateWindow, dim))
      dims.updateScatter.push_back(dim);
  return dims;
}

// Emits one scatter: loops over the indices that carry the results; inside, where the whole window
// lies in the inputs, the update computation on one element, or as a linalg.generic on slices. The
// loops have an order, so that indices may repeat; nothing is gained by those known to be unique.
class ScatterEmitter {
public:
  ScatterEmitter(stablehlo::ScatterOp op, ValueRange operands)
      : op_(op), loc_(op.getLoc()), count_(op.inputCount()), inputs_(operands.take_front(count_)),
        indices_(operands[count_]), updates_(operands.take_back(count_)),
        inputType_(typeOf(inputs_[0])), updateType_(typeOf(updates_[0])),
        dims_(readDims(op.getScatterDimensionNumbers(), updateType_.getRank())) {
    windowSizes_.assign(inputType_.getRank(), 1);
    size_t next = 0;
    for (int64_t dim = 0; dim < inputType_.getRank(); ++dim)
      if (!isHidden(dim))
        windowSizes_[dim] = updateType_.getDimSize(dims_.updateWindow[next++]);
    for (int64_t dim : dims_.updateWindow)
      windowShape_.push_back(updateType_.getDimSize(dim));
  }

  FailureOr<Values> emit(OpBuilder& builder) {
    SmallVector<int64_t> extents;
    for (int64_t dim : dims_.updateScatter)
      extents.push_back(updateType_.getDimSize(dim));
    Values inputs;
    for (auto [input, held, result] : llvm::zip(op_.getInputs(), inputs_, op_.getResults())) {
      inputs.push_back(convertTensor(builder, loc_, op_, elementTypeOf(input.getType()),
                                     elementTypeOf(result.getType()), held));
      if (!inputs.back())
        return op_.emitError("has no conversion of its inputs to ") << result.getType();
    }
    Values results = emitNest(builder, loc_, extents, inputs,
                              [&](OpBuilder& inner, ValueRange at, ValueRange carried) {
                                return updateWindow(inner, at, carried);
                              });
    if (failed_)
      return failure();
    return results;
  }

private:
  static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

  bool isHidden(int64_t inputDim) const {
    return llvm::is_contained(dims_.inserted, inputDim) ||
           llvm::is_contained(dims_.inputBatching, inputDim);
  }

  // Where the window of the update at `at` begins in the inputs, by dimension; null for what is
  // always 0. Adds to `inside` a condition for each dimension that can be missed.
  Values windowStart(OpBuilder& builder, ValueRange at, Value& inside) {
    Values starts(inputType_.getRank());
    Type element = cast<ShapedType>(op_.getScatterIndices().getType()).getElementType();
    int64_t indicesRank = typeOf(indices_).getRank();
    for (auto [part, dim] : llvm::enumerate(dims_.toOperand)) {
      Values where;
      size_t next = 0;
      for (int64_t d = 0; d < indicesRank; ++d)
        where.push_back(d == dims_.indexVector ? indexConstant(builder, loc_, part) : at[next++]);
      Value stored = tensor::ExtractOp::create(builder, loc_, indices_, where);
      Value start = toIndex(builder, loc_, element, stored);
      // As unsigned numbers, negative starts are too large.
      Value limit = indexConstant(builder, loc_, inputType_.getDimSize(dim) - windowSizes_[dim]);
      Value fits = arith::CmpIOp::create(builder, loc_, arith::CmpIPredicate::ule, start, limit);
      inside = inside ? arith::AndIOp::create(builder, loc_, inside, fits) : fits;
      starts[dim] = start;
    }
    for (auto [inputDim, indicesDim] : llvm::zip(dims_.inputBatching, dims_.indicesBatching))
      starts[inputDim] = at[indicesDim - (indicesDim > dims_.indexVector ? 1 : 0)];
    return starts;
  }

  // A window that does not lie in the inputs as a whole is not applied at all.
  Values updateWindow(OpBuilder& builder, ValueRange at, ValueRange carried) {
    for (int64_t dim = 0; dim < inputType_.getRank(); ++dim)
      if (windowSizes_[dim] > inputType_.getDimSize(dim))
        return Values(carried);
    Value inside;
    Values starts = windowStart(builder, at, inside);
    bool oneElement = llvm::all_of(windowSizes_, [](int64_t size) { return size == 1; });
    auto apply = [&](OpBuilder& inner) {
      return oneElement ? updateElement(inner, at, starts, carried)
                        : updateSlices(inner, at, starts, carried);
    };
    if (!inside)
      return apply(builder);
    auto branch = scf::IfOp::create(
        builder, loc_, inside,
        [&](OpBuilder& inner, Location where) { scf::YieldOp::create(inner, where, apply(inner)); },
        [&](OpBuilder& inner, Location where) { scf::YieldOp::create(inner, where, carried); });
    return Values(branch.getResults());
  }

  // The update computation on held elements: first those of the results, then those of the updates,
  // which it may want to have converted.
  Values compute(OpBuilder& builder, ValueRange elements) {
    Block& body = op_.getUpdateComputation().front();
    Values converted(elements.take_front(count_)), results;
    for (auto [update, argument, element] : llvm::zip(
             op_.getUpdates(), body.getArguments().drop_front(count_), elements.drop_front(count_)))
      converted.push_back(convertScalar(builder, loc_, op_, elementTypeOf(update.getType()),
                                        elementTypeOf(argument.getType()), element));
    if (failed(emitScalarBody(builder, body, converted, results))) {
      failed_ = true;
      return Values(elements.take_front(count_));
    }
    return results;
  }

  Values updateElement(OpBuilder& builder, ValueRange at, const Values& starts,
                       ValueRange carried) {
    Value zero;
    auto orZero = [&](Value start) {
      if (!start && !zero)
        zero = indexConstant(builder, loc_, 0);
      return start ? start : zero;
    };
    Values place, updatePlace(updateType_.getRank());
    for (Value start : starts)
      place.push_back(orZero(start));
    for (auto [dim, index] : llvm::zip(dims_.updateScatter, at))
      updatePlace[dim] = index;
    for (Value& index : updatePlace)
      index = orZero(index);
    Values elements;
    for (Value input : carried)
      elements.push_back(tensor::ExtractOp::create(builder, loc_, input, place));
    for (Value update : updates_)
      elements.push_back(tensor::ExtractOp::create(builder, loc_, update, updatePlace));
    Values results;
    for (auto [input, element] : llvm::zip(carried, compute(builder, elements)))
      results.push_back(tensor::InsertOp::create(builder, loc_, element, input, place));
    return results;
  }

  Values updateSlices(OpBuilder& builder, ValueRange at, const Values& starts, ValueRange carried) {
    SmallVector<OpFoldResult> offsets, sizes = indexAttrs(builder, windowSizes_);
    for (Value start : starts)
      offsets.push_back(start ? OpFoldResult(start) : builder.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(inputType_.getRank(), builder.getIndexAttr(1));

    SmallVector<OpFoldResult> updateOffsets(updateType_.getRank(), builder.getIndexAttr(0));
    SmallVector<OpFoldResult> updateSizes = indexAttrs(builder, updateType_.getShape());
    SmallVector<OpFoldResult> updateStrides(updateType_.getRank(), builder.getIndexAttr(1));
    for (auto [dim, index] : llvm::zip(dims_.updateScatter, at)) {
      updateOffsets[dim] = index;
      updateSizes[dim] = builder.getIndexAttr(1);
    }

    Values updateSlices, windows;
    auto windowType = [&](Value tensor) {
      return RankedTensorType::get(windowShape_, typeOf(tensor).getElementType());
    };
    for (Value update : updates_)
      updateSlices.push_back(tensor::ExtractSliceOp::create(
          builder, loc_, windowType(update), update, updateOffsets, updateSizes, updateStrides));
    for (Value input : carried)
      windows.push_back(tensor::ExtractSliceOp::create(builder, loc_, windowType(input), input,
                                                       offsets, sizes, strides));
    SmallVector<AffineMap> maps(2 * count_, builder.getMultiDimIdentityMap(windowShape_.size()));
    SmallVector<utils::IteratorType> iterators(windowShape_.size(), utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        builder, loc_, TypeRange(ValueRange(windows)), updateSlices, windows, maps, iterators,
        [&](OpBuilder& inner, Location where, ValueRange elements) {
          Values ordered(elements.take_back(count_));
          llvm::append_range(ordered, elements.take_front(count_));
          linalg::YieldOp::create(inner, where, compute(inner, ordered));
        });
    Values results;
    for (auto [input, window] : llvm::zip(carried, generic.getResults()))
      results.push_back(
          tensor::InsertSliceOp::create(builder, loc_, window, input, offsets, sizes, strides));
    return results;
  }

  stablehlo::ScatterOp op_;
  Location loc_;
  unsigned count_;
  ValueRange inputs_;
  Value indices_;
  ValueRange updates_;
  RankedTensorType inputType_, updateType_;
  ScatterDims dims_;
  SmallVector<int64_t> windowSizes_; // by dimension of the inputs
  SmallVector<int64_t> windowShape_; // by window dimension of the updates
  bool failed_ = false;
};

class ScatterLowering : public OpConversionPattern<stablehlo::ScatterOp> {
public:
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ScatterOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    for (Value operand : adaptor.getOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      if (!type || !type.hasStaticShape())
        return op.emitError("a scatter of a tensor without a static shape has no lowering");
    }
    FailureOr<Values> results = ScatterEmitter(op, adaptor.getOperands()).emit(rewriter);
    if (failed(results))
      return failure();
    rewriter.replaceOp(op, *results);
    return success();
  }
};

} // namespace

void populateScatter(LoweringTypes& types, RewritePatternSet& patterns) {
  patterns.add<ScatterLowering>(types, patterns.getContext());
}

} // namespace nocturne::compiler
