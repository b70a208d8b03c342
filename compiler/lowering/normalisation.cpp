#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/families.h"
#include "compiler/lowering/tensors.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// Arithmetic inside of the body of a linalg.generic.
class Arithmetic {
public:
  Arithmetic(OpBuilder& builder, Location loc) : builder_(builder), loc_(loc) {}

  Value add(Value a, Value b) { return arith::AddFOp::create(builder_, loc_, a, b); }
  Value sub(Value a, Value b) { return arith::SubFOp::create(builder_, loc_, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(builder_, loc_, a, b); }
  Value div(Value a, Value b) { return arith::DivFOp::create(builder_, loc_, a, b); }
  Value sqrt(Value a) { return math::SqrtOp::create(builder_, loc_, a); }

private:
  OpBuilder& builder_;
  Location loc_;
};

// The decompositions of batch normalisation, in f32 for narrower floats. Tensors have the shape of
// the operand or one element for each feature.
class BatchNorm {
public:
  BatchNorm(OpBuilder& builder, Operation* op, const APFloat& epsilon, int64_t feature)
      : builder_(builder), op_(op), loc_(op->getLoc()) {
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    shape_ = type.getShape();
    feature_ = static_cast<unsigned>(feature);
    element_ = type.getElementType();
    compute_ = computeType(element_);
    bool lost = false;
    APFloat rounded = epsilon;
    rounded.convert(cast<FloatType>(compute_).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                    &lost);
    epsilon_ = arith::ConstantOp::create(builder, loc_, FloatAttr::get(compute_, rounded));
    const int64_t features = shape_[feature_];
    const int64_t count = features == 0 ? 0 : type.getNumElements() / features;
    count_ = number(static_cast<double>(count));
  }

  Value take(Value held) { return convertTensor(builder_, loc_, op_, element_, compute_, held); }
  Value give(Value tensor) {
    return convertTensor(builder_, loc_, op_, compute_, element_, tensor);
  }

  using Emitter = llvm::function_ref<Value(Arithmetic&, ValueRange)>;

  // One element for each of the operand's shape from one of each tensor.
  Value map(ValueRange tensors, Emitter emit) {
    Value empty = tensor::EmptyOp::create(builder_, loc_, shape_, compute_);
    return generic(tensors, empty, /*sums=*/false, emit);
  }

  // The sum of such elements over everything but the feature.
  Value sum(ValueRange tensors, Emitter emit) {
    return generic(tensors, filled(builder_, loc_, shape_[feature_], number(0)), /*sums=*/true,
                   emit);
  }

  // One element for each feature.
  Value mapFeatures(ValueRange tensors, Emitter emit) {
    return mapElements(builder_, loc_, cast<RankedTensorType>(tensors[0].getType()).getShape(),
                       compute_, tensors, [&](OpBuilder& inner, ValueRange elements) {
                         Arithmetic arithmetic(inner, loc_);
                         return emit(arithmetic, elements);
                       });
  }

  Value epsilon() const { return epsilon_; }
  Value count() const { return count_; }

  Value mean(Value operand) {
    Value total = sum(operand, [](Arithmetic&, ValueRange x) { return x[0]; });
    return mapFeatures(total, [&](Arithmetic& a, ValueRange x) { return a.div(x[0], count_); });
  }

  Value variance(Value operand, Value mean) {
    Value total = sum({operand, mean}, [](Arithmetic& a, ValueRange x) {
      Value centred = a.sub(x[0], x[1]);
      return a.mul(centred, centred);
    });
    return mapFeatures(total, [&](Arithmetic& a, ValueRange x) { return a.div(x[0], count_); });
  }

  Value deviation(Value variance) {
    return mapFeatures(variance,
                       [&](Arithmetic& a, ValueRange x) { return a.sqrt(a.add(x[0], epsilon_)); });
  }

  Value normalise(Value operand, Value scale, Value offset, Value mean, Value variance) {
    return map({operand, scale, offset, mean, deviation(variance)},
               [](Arithmetic& a, ValueRange x) {
                 Value centred = a.sub(x[0], x[3]);
                 return a.add(a.mul(a.div(centred, x[4]), x[1]), x[2]);
               });
  }

private:
  Value number(double value) {
    return arith::ConstantOp::create(builder_, loc_, builder_.getFloatAttr(compute_, value));
  }

  Value generic(ValueRange tensors, Value output, bool sums, Emitter emit) {
    const auto rank = static_cast<unsigned>(shape_.size());
    AffineMap whole = builder_.getMultiDimIdentityMap(rank);
    AffineMap feature = AffineMap::get(rank, 0, builder_.getAffineDimExpr(feature_));
    SmallVector<AffineMap> maps;
    for (Value tensor : tensors)
      maps.push_back(isPerFeature(tensor) ? feature : whole);
    maps.push_back(sums ? feature : whole);
    SmallVector<utils::IteratorType> iterators(rank, sums ? utils::IteratorType::reduction
                                                          : utils::IteratorType::parallel);
    iterators[feature_] = utils::IteratorType::parallel;
    return linalg::GenericOp::create(builder_, loc_, output.getType(), tensors, output, maps,
                                     iterators,
                                     [&](OpBuilder& inner, Location loc, ValueRange arguments) {
                                       Arithmetic arithmetic(inner, loc);
                                       Value element = emit(arithmetic, arguments.drop_back());
                                       if (sums)
                                         element = arithmetic.add(arguments.back(), element);
                                       linalg::YieldOp::create(inner, loc, element);
                                     })
        .getResult(0);
  }

  // For an operand of rank 1 both kinds look the same, and so do their maps.
  bool isPerFeature(Value tensor) const {
    return cast<RankedTensorType>(tensor.getType()).getRank() == 1;
  }

  OpBuilder& builder_;
  Operation* op_;
  Location loc_;
  ArrayRef<int64_t> shape_;
  unsigned feature_ = 0;
  Type element_, compute_;
  Value epsilon_, count_;
};

template <typename Op>
BatchNorm batchNormOf(OpBuilder& builder, Op op) {
  return BatchNorm(builder, op, op.getEpsilon(), op.getFeatureIndex());
}

struct LowerBatchNormInference : OpConversionPattern<stablehlo::BatchNormInferenceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::BatchNormInferenceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    BatchNorm norm = batchNormOf(rewriter, op);
    Value output = norm.normalise(norm.take(adaptor.getOperand()), norm.take(adaptor.getScale()),
                                  norm.take(adaptor.getOffset()), norm.take(adaptor.getMean()),
                                  norm.take(adaptor.getVariance()));
    rewriter.replaceOp(op, norm.give(output));
    return success();
  }
};

struct LowerBatchNormTraining : OpConversionPattern<stablehlo::BatchNormTrainingOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::BatchNormTrainingOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    BatchNorm norm = batchNormOf(rewriter, op);
    Value operand = norm.take(adaptor.getOperand());
    Value mean = norm.mean(operand), variance = norm.variance(operand, mean);
    Value output = norm.normalise(operand, norm.take(adaptor.getScale()),
                                  norm.take(adaptor.getOffset()), mean, variance);
    rewriter.replaceOp(op, ValueRange{norm.give(output), norm.give(mean), norm.give(variance)});
    return success();
  }
};

struct LowerBatchNormGrad : OpConversionPattern<stablehlo::BatchNormGradOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::BatchNormGradOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    BatchNorm norm = batchNormOf(rewriter, op);
    Value operand = norm.take(adaptor.getOperand()), scale = norm.take(adaptor.getScale());
    Value mean = norm.take(adaptor.getMean()), variance = norm.take(adaptor.getVariance());
    Value grad = norm.take(adaptor.getGradOutput());
    Value deviation = norm.deviation(variance);

    Value gradOffset = norm.sum(grad, [](Arithmetic&, ValueRange x) { return x[0]; });
    Value projected = norm.sum({grad, operand, mean}, [](Arithmetic& a, ValueRange x) {
      return a.mul(x[0], a.sub(x[1], x[2]));
    });
    Value gradScale = norm.mapFeatures(
        {projected, deviation}, [](Arithmetic& a, ValueRange x) { return a.div(x[0], x[1]); });
    // What one place's gradient loses by moving the mean and the variance of all places.
    Value slope = norm.mapFeatures({projected, variance}, [&](Arithmetic& a, ValueRange x) {
      return a.div(x[0], a.add(x[1], norm.epsilon()));
    });
    Value factor = norm.mapFeatures({scale, deviation}, [&](Arithmetic& a, ValueRange x) {
      return a.div(a.div(x[0], x[1]), norm.count());
    });
    Value gradOperand = norm.map({grad, operand, mean, gradOffset, slope, factor},
                                 [&](Arithmetic& a, ValueRange x) {
                                   Value own = a.mul(x[0], norm.count());
                                   Value shift = a.mul(a.sub(x[1], x[2]), x[4]);
                                   return a.mul(a.sub(a.sub(own, x[3]), shift), x[5]);
                                 });
    rewriter.replaceOp(
        op, ValueRange{norm.give(gradOperand), norm.give(gradScale), norm.give(gradOffset)});
    return success();
  }
};

} // namespace

void populateNormalisation(LoweringTypes& types, RewritePatternSet& patterns) {
  patterns.add<LowerBatchNormInference, LowerBatchNormTraining, LowerBatchNormGrad>(
      types, patterns.getContext());
}

} // namespace nocturne::compiler
