#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

#include "compiler/dialect/AttrHelpers.h"
#include "compiler/dialect/StablehloOps.h"
#include "compiler/dialect/VerifyHelpers.h"
#include "compiler/lowering/contraction.h"
#include "compiler/lowering/families.h"
#include "compiler/lowering/tensors.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

using stablehlo::WindowDim;

// A tensor as the loops see it: groups split off into dimensions of their own.
struct View {
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> places;

  void add(int64_t size, AffineExpr place) {
    shape.push_back(size);
    places.push_back(place);
  }
};

// The loops of a convolution. Groups are one more loop that both operands and the result have; a
// loop that no dimension needs (features of a depthwise kernel, a window of size 1) is left out.
class ConvolutionLoops {
public:
  ConvolutionLoops(stablehlo::ConvolutionOp op, ArrayRef<WindowDim> window,
                   ArrayRef<int64_t> lhsShape, ArrayRef<int64_t> rhsShape)
      : context_(op.getContext()), dims_(op.getDimensionNumbers()), window_(window),
        featureGroups_(op.getFeatureGroupCount()), batchGroups_(op.getBatchGroupCount()),
        lhsShape_(lhsShape), rhsShape_(rhsShape),
        resultShape_(cast<RankedTensorType>(op.getResult().getType()).getShape()),
        spatial_(window.size()), within_(window.size()) {
    buildResult();
    buildKernel();
    buildInput();
  }

  const View& lhs() const { return lhs_; }
  const View& rhs() const { return rhs_; }
  const View& result() const { return result_; }
  ArrayRef<utils::IteratorType> iterators() const { return iterators_; }

  SmallVector<AffineMap> maps() const {
    const auto count = static_cast<unsigned>(iterators_.size());
    auto map = [&](const View& view) { return AffineMap::get(count, 0, view.places, context_); };
    return {map(lhs_), map(rhs_), map(result_)};
  }

  // The same as a contraction, where no place of the input is a sum of two loops.
  std::optional<Contraction> asContraction() const {
    Contraction contraction;
    contraction.sizes = sizes_;
    auto read = [](const View& view, SmallVector<unsigned>& loops) {
      for (AffineExpr place : view.places) {
        auto loop = dyn_cast<AffineDimExpr>(place);
        if (!loop)
          return false;
        loops.push_back(loop.getPosition());
      }
      return true;
    };
    if (read(lhs_, contraction.lhs) && read(rhs_, contraction.rhs) &&
        read(result_, contraction.result))
      return contraction;
    return std::nullopt;
  }

private:
  int64_t groups() const { return std::max(featureGroups_, batchGroups_); }

  AffineExpr newLoop(int64_t size, utils::IteratorType iterator) {
    sizes_.push_back(size);
    iterators_.push_back(iterator);
    return getAffineDimExpr(static_cast<unsigned>(sizes_.size() - 1), context_);
  }

  // Which of the spatial dimensions `dim` is, by their list.
  static std::optional<size_t> spatialIndex(ArrayRef<int64_t> spatial, int64_t dim) {
    const auto* place = llvm::find(spatial, dim);
    if (place == spatial.end())
      return std::nullopt;
    return static_cast<size_t>(place - spatial.begin());
  }

  // Parallel loops in the result's order, so that the innermost one goes along its memory.
  void buildResult() {
    for (auto [i, size] : llvm::enumerate(resultShape_)) {
      const auto dim = static_cast<int64_t>(i);
      if (dim == dims_.getOutputFeatureDimension()) {
        const int64_t features = size / groups();
        if (groups() > 1) {
          group_ = newLoop(groups(), utils::IteratorType::parallel);
          result_.add(groups(), group_);
        }
        if (groups() == 1 || features != 1) {
          feature_ = newLoop(features, utils::IteratorType::parallel);
          result_.add(features, feature_);
        }
        continue;
      }
      AffineExpr loop = newLoop(size, utils::IteratorType::parallel);
      result_.add(size, loop);
      if (dim == dims_.getOutputBatchDimension())
        batch_ = loop;
      else
        spatial_[*spatialIndex(dims_.getOutputSpatialDimensions(), dim)] = loop;
    }
  }

  // Loops of the sum in the kernel's order.
  void buildKernel() {
    for (auto [i, size] : llvm::enumerate(rhsShape_)) {
      const auto dim = static_cast<int64_t>(i);
      if (dim == dims_.getKernelOutputFeatureDimension()) {
        if (group_)
          rhs_.add(groups(), group_);
        if (feature_)
          rhs_.add(size / groups(), feature_);
      } else if (dim == dims_.getKernelInputFeatureDimension()) {
        if (groups() == 1 || size != 1) {
          summed_ = newLoop(size, utils::IteratorType::reduction);
          rhs_.add(size, summed_);
        }
      } else if (size != 1) {
        AffineExpr& within = within_[*spatialIndex(dims_.getKernelSpatialDimensions(), dim)];
        within = newLoop(size, utils::IteratorType::reduction);
        rhs_.add(size, within);
      }
    }
  }

  void buildInput() {
    for (auto [i, size] : llvm::enumerate(lhsShape_)) {
      const auto dim = static_cast<int64_t>(i);
      if (dim == dims_.getInputBatchDimension()) {
        if (batchGroups_ > 1)
          lhs_.add(batchGroups_, group_);
        lhs_.add(size / batchGroups_, batch_);
      } else if (dim == dims_.getInputFeatureDimension()) {
        if (featureGroups_ > 1)
          lhs_.add(featureGroups_, group_);
        if (summed_)
          lhs_.add(size / featureGroups_, summed_);
        // With batch groups a single input feature has no loop, and no dimension in the view.
      } else {
        const size_t at = *spatialIndex(dims_.getInputSpatialDimensions(), dim);
        AffineExpr place = spatial_[at] * window_[at].stride;
        if (within_[at])
          place = place + within_[at] * window_[at].windowDilation;
        lhs_.add(size, place);
      }
    }
  }

  MLIRContext* context_;
  stablehlo::ConvDimensionNumbersAttr dims_;
  ArrayRef<WindowDim> window_;
  int64_t featureGroups_, batchGroups_;
  ArrayRef<int64_t> lhsShape_, rhsShape_, resultShape_;
  AffineExpr batch_, group_, feature_, summed_;
  SmallVector<AffineExpr> spatial_, within_;
  SmallVector<int64_t> sizes_;
  SmallVector<utils::IteratorType> iterators_;
  View lhs_, rhs_, result_;
};

// Pads and dilates the input. Where the window has one element, strides are taken here too: what is
// skipped is never read, and what is left is a matrix product.
Value prepareInput(OpBuilder& builder, stablehlo::ConvolutionOp op,
                   MutableArrayRef<WindowDim> window, Value lhs) {
  Location loc = op.getLoc();
  ArrayRef<int64_t> spatial = op.getDimensionNumbers().getInputSpatialDimensions();
  ArrayRef<int64_t> results = op.getDimensionNumbers().getOutputSpatialDimensions();
  SmallVector<PadDim> padding(shapeOf(lhs).size());
  for (auto [i, dim] : llvm::enumerate(window))
    padding[static_cast<size_t>(spatial[i])] =
        PadDim{dim.padLow, dim.padHigh, dim.baseDilation - 1};
  Value zero = zeroOf(builder, loc, elementTypeOf(lhs.getType()));
  lhs = padded(builder, loc, lhs, padding, zero);

  SmallVector<int64_t> sizes(shapeOf(lhs)), strides(sizes.size(), 1), offsets(sizes.size(), 0);
  for (auto [i, dim] : llvm::enumerate(window))
    if (dim.size == 1 && dim.stride > 1) {
      const auto at = static_cast<size_t>(spatial[i]);
      sizes[at] = shapeOf(op.getResult())[static_cast<size_t>(results[i])];
      strides[at] = std::exchange(dim.stride, 1);
    }
  if (llvm::all_of(strides, [](int64_t stride) { return stride == 1; }))
    return lhs;
  return tensor::ExtractSliceOp::create(builder, loc, lhs, indexAttrs(builder, offsets),
                                        indexAttrs(builder, sizes), indexAttrs(builder, strides));
}

// The kernel turned around along the dimensions whose windows are reversed. It is small, and
// convolutions proper are what later stages know.
Value prepareKernel(OpBuilder& builder, stablehlo::ConvolutionOp op, Value rhs) {
  Attribute reversal = op->getAttr("window_reversal");
  SmallVector<bool> flags = reversal ? stablehlo::readBoolList(reversal) : SmallVector<bool>();
  ArrayRef<int64_t> spatial = op.getDimensionNumbers().getKernelSpatialDimensions();
  SmallVector<int64_t> turned;
  for (auto [dim, flag] : llvm::zip(spatial, flags))
    if (flag && shapeOf(rhs)[static_cast<size_t>(dim)] > 1)
      turned.push_back(dim);
  if (turned.empty())
    return rhs;
  Location loc = op.getLoc();
  ArrayRef<int64_t> shape = shapeOf(rhs);
  const auto rank = static_cast<unsigned>(shape.size());
  Value empty = tensor::EmptyOp::create(builder, loc, shape, elementTypeOf(rhs.getType()));
  SmallVector<AffineMap> maps{builder.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), ValueRange{}, empty, maps, iterators,
             [&](OpBuilder& inner, Location at, ValueRange) {
               SmallVector<Value> place;
               for (unsigned dim = 0; dim < rank; ++dim) {
                 Value index = linalg::IndexOp::create(inner, at, dim);
                 if (llvm::is_contained(turned, static_cast<int64_t>(dim))) {
                   Value last = arith::ConstantIndexOp::create(inner, at, shape[dim] - 1);
                   index = arith::SubIOp::create(inner, at, last, index);
                 }
                 place.push_back(index);
               }
               Value element = tensor::ExtractOp::create(inner, at, rhs, place);
               linalg::YieldOp::create(inner, at, element);
             })
      .getResult(0);
}

// Images by rows and columns with features innermost, the layout that has a named operation.
bool isPlain2d(stablehlo::ConvolutionOp op, Type element) {
  stablehlo::ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  const std::array<int64_t, 2> image{1, 2}, kernel{0, 1};
  return isa<FloatType>(element) && op.getFeatureGroupCount() == 1 &&
         op.getBatchGroupCount() == 1 && dims.getInputBatchDimension() == 0 &&
         dims.getInputSpatialDimensions() == ArrayRef<int64_t>(image) &&
         dims.getOutputBatchDimension() == 0 &&
         dims.getOutputSpatialDimensions() == ArrayRef<int64_t>(image) &&
         dims.getKernelSpatialDimensions() == ArrayRef<int64_t>(kernel) &&
         dims.getKernelInputFeatureDimension() == 2;
}

// A padded input and one of three forms. Windows of one element make a contraction (a 1x1
// convolution is a matrix product), floats in the layout NHWC x HWIO make linalg.conv_2d_nhwc_hwcf,
// which later stages tile and vectorise by its name, and the rest is a linalg.generic over the
// result and the kernel with the product and sum in its body.
struct LowerConvolution : OpConversionPattern<stablehlo::ConvolutionOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ConvolutionOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    RankedTensorType type = heldResultType(*getTypeConverter(), op);
    if (!type)
      return failure();
    Location loc = op.getLoc();
    if (type.getNumElements() == 0) {
      rewriter.replaceOp(op, emptyTensor(rewriter, loc, type));
      return success();
    }
    SmallVector<int64_t> sizes;
    for (int64_t dim : op.getDimensionNumbers().getKernelSpatialDimensions())
      sizes.push_back(shapeOf(adaptor.getRhs())[static_cast<size_t>(dim)]);
    FailureOr<SmallVector<WindowDim>> window =
        stablehlo::readWindow(op, sizes, op->getAttr("window_strides"), op->getAttr("padding"),
                              op->getAttr("lhs_dilation"), op->getAttr("rhs_dilation"));
    if (failed(window))
      return failure();
    Type lhsElement = elementTypeOf(op.getLhs().getType());
    Type rhsElement = elementTypeOf(op.getRhs().getType());
    Type resultElement = elementTypeOf(op.getResult().getType());
    Type sum = accumulationElement(lhsElement, rhsElement, resultElement);
    Value lhs = convertTensor(rewriter, loc, op, lhsElement, sum, adaptor.getLhs());
    Value rhs = convertTensor(rewriter, loc, op, rhsElement, sum, adaptor.getRhs());
    if (!lhs || !rhs)
      return op.emitError("has no lowering for elements of types ")
             << lhsElement << " and " << rhsElement;
    lhs = prepareInput(rewriter, op, *window, lhs);
    rhs = prepareKernel(rewriter, op, rhs);
    Value total = convolve(rewriter, op, *window, lhs, rhs);
    total = convertTensor(rewriter, loc, op, sum, resultElement, total);
    if (!total)
      return op.emitError("has no lowering for a result of elements of type ") << resultElement;
    rewriter.replaceOp(op, total);
    return success();
  }

private:
  static Value convolve(ConversionPatternRewriter& rewriter, stablehlo::ConvolutionOp op,
                        ArrayRef<WindowDim> window, Value lhs, Value rhs) {
    Location loc = op.getLoc();
    ConvolutionLoops loops(op, window, shapeOf(lhs), shapeOf(rhs));
    ArrayRef<int64_t> resultShape = shapeOf(op.getResult());
    Type element = elementTypeOf(lhs.getType());
    std::optional<Contraction> contraction = loops.asContraction();
    if (!contraction && isPlain2d(op, element)) {
      Value zeros = filled(rewriter, loc, resultShape, zeroOf(rewriter, loc, element));
      auto pair = [&](int64_t WindowDim::* field) {
        return rewriter.getI64TensorAttr({window[0].*field, window[1].*field});
      };
      return linalg::Conv2DNhwcHwcfOp::create(rewriter, loc, zeros.getType(), ValueRange{lhs, rhs},
                                              zeros, pair(&WindowDim::stride),
                                              pair(&WindowDim::windowDilation))
          .getResult(0);
    }
    lhs = reshaped(rewriter, loc, lhs, loops.lhs().shape);
    rhs = reshaped(rewriter, loc, rhs, loops.rhs().shape);
    Value result;
    if (contraction) {
      result = emitContraction(rewriter, loc, *contraction, lhs, rhs);
    } else {
      Value zeros = filled(rewriter, loc, loops.result().shape, zeroOf(rewriter, loc, element));
      result = linalg::GenericOp::create(rewriter, loc, zeros.getType(), ValueRange{lhs, rhs},
                                         zeros, loops.maps(), loops.iterators(),
                                         [](OpBuilder& inner, Location at, ValueRange arguments) {
                                           Value total = addProduct(inner, at, arguments[2],
                                                                    arguments[0], arguments[1]);
                                           linalg::YieldOp::create(inner, at, total);
                                         })
                   .getResult(0);
    }
    return reshaped(rewriter, loc, result, resultShape);
  }
};

// A convolution, once its padding is known.
struct LowerDynamicConv : OpConversionPattern<stablehlo::DynamicConvOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::DynamicConvOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    DenseIntElementsAttr amounts;
    if (!matchPattern(adaptor.getDPadding(), m_Constant(&amounts)))
      return op.emitError("dynamic_conv with padding that is not a constant has no lowering");
    SmallVector<int64_t> numbers = llvm::map_to_vector(
        amounts.getValues<APInt>(), [](const APInt& number) { return number.getSExtValue(); });
    auto type = RankedTensorType::get(amounts.getType().getShape(), rewriter.getI64Type());
    NamedAttrList attributes(op->getAttrDictionary());
    attributes.set("padding", DenseIntElementsAttr::get(type, numbers));
    rewriter.replaceOpWithNewOp<stablehlo::ConvolutionOp>(
        op, op->getResultTypes(), ValueRange{op.getLhs(), op.getRhs()}, attributes.getAttrs());
    return success();
  }
};

} // namespace

void populateConvolutions(LoweringTypes& types, RewritePatternSet& patterns) {
  patterns.add<LowerConvolution, LowerDynamicConv>(types, patterns.getContext());
}

} // namespace nocturne::compiler
