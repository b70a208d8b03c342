#include "compiler/dialect/AttrHelpers.h"

#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/families.h"
#include "compiler/lowering/loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// How a result's dimensions and an operand's belong together in a gather.
struct GatherDims {
  SmallVector<int64_t> offset;          // of the result: they walk through a slice
  SmallVector<int64_t> collapsed;       // of the operand: absent from the result
  SmallVector<int64_t> operandBatching; // of the operand, and ..
  SmallVector<int64_t> indicesBatching; // .. of the indices: walked together
  SmallVector<int64_t> startIndexMap;   // of the operand: where each part of an index starts
  int64_t indexVector;             // of the indices: the parts of one index; may be past the end
  SmallVector<int64_t> sliceSizes; // by dimension of the operand
};

// Part number `part` of every index: the indices without their vector dimension.
Value indexPart(OpBuilder& builder, Location loc, Value indices, int64_t vectorDim, int64_t part) {
  auto type = cast<RankedTensorType>(indices.getType());
  if (vectorDim >= type.getRank())
    return indices;
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)), sizes;
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    bool isVector = int64_t(dim) == vectorDim;
    sizes.push_back(builder.getIndexAttr(isVector ? 1 : size));
    if (!isVector)
      shape.push_back(size);
  }
  offsets[vectorDim] = builder.getIndexAttr(part);
  auto partType = RankedTensorType::get(shape, type.getElementType());
  return tensor::ExtractSliceOp::create(builder, loc, partType, indices, offsets, sizes, strides);
}

// One linalg.generic over the result. The parts of the indices are its inputs, so that they are
// loaded where the loops over a slice begin; the operand is read by tensor.extract.
Value emitGather(OpBuilder& builder, Location loc, const GatherDims& dims, Value operand,
                 Value indices, Type indexElement, RankedTensorType result) {
  // Slices of nothing are not understood by what follows.
  if (result.getNumElements() == 0)
    return tensor::EmptyOp::create(builder, loc, result.getShape(), result.getElementType());
  auto operandType = cast<RankedTensorType>(operand.getType());
  int64_t rank = result.getRank();
  SmallVector<int64_t> batch; // the result's other dimensions: they walk through the indices
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims.offset, dim))
      batch.push_back(dim);

  Values inputs;
  SmallVector<AffineMap> maps;
  SmallVector<int64_t> partOf(operandType.getRank(), -1); // operand dimension -> input
  SmallVector<AffineExpr> batchExprs;
  for (int64_t dim : batch)
    batchExprs.push_back(builder.getAffineDimExpr(dim));
  for (auto [part, dim] : llvm::enumerate(dims.startIndexMap)) {
    if (operandType.getDimSize(dim) == dims.sliceSizes[dim])
      continue; // a slice as large as the operand can only start at 0
    partOf[dim] = inputs.size();
    inputs.push_back(indexPart(builder, loc, indices, dims.indexVector, part));
    maps.push_back(AffineMap::get(rank, 0, batchExprs, builder.getContext()));
  }
  maps.push_back(builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  Value init = tensor::EmptyOp::create(builder, loc, result.getShape(), result.getElementType());

  auto body = [&](OpBuilder& inner, Location where, ValueRange elements) {
    Values at;
    size_t nextOffset = 0;
    for (int64_t dim = 0; dim < operandType.getRank(); ++dim) {
      auto* batching = llvm::find(dims.operandBatching, dim);
      if (batching != dims.operandBatching.end()) {
        int64_t indicesDim = dims.indicesBatching[batching - dims.operandBatching.begin()];
        int64_t place = indicesDim - (indicesDim > dims.indexVector ? 1 : 0);
        at.push_back(linalg::IndexOp::create(inner, where, batch[place]));
        continue;
      }
      Value start;
      if (partOf[dim] >= 0)
        start = clampedIndex(inner, where, elements[partOf[dim]], indexElement.isUnsignedInteger(),
                             operandType.getDimSize(dim) - dims.sliceSizes[dim]);
      Value offset;
      if (!llvm::is_contained(dims.collapsed, dim))
        offset = linalg::IndexOp::create(inner, where, dims.offset[nextOffset++]);
      if (start && offset)
        at.push_back(arith::AddIOp::create(inner, where, start, offset));
      else if (start || offset)
        at.push_back(start ? start : offset);
      else
        at.push_back(indexConstant(inner, where, 0));
    }
    Value element = tensor::ExtractOp::create(inner, where, operand, at);
    linalg::YieldOp::create(inner, where, element);
  };
  auto generic = linalg::GenericOp::create(builder, loc, TypeRange{result}, inputs,
                                           ValueRange{init}, maps, iterators, body);
  return generic.getResult(0);
}

GatherDims readDims(stablehlo::GatherDimensionNumbersAttr attr) {
  GatherDims dims;
  llvm::append_range(dims.offset, attr.getOffsetDims());
  llvm::append_range(dims.collapsed, attr.getCollapsedSliceDims());
  llvm::append_range(dims.operandBatching, attr.getOperandBatchingDims());
  llvm::append_range(dims.indicesBatching, attr.getStartIndicesBatchingDims());
  llvm::append_range(dims.startIndexMap, attr.getStartIndexMap());
  dims.indexVector = attr.getIndexVectorDim();
  return dims;
}

template <typename Op>
class GatherLowering : public OpConversionPattern<Op> {
public:
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    auto result = dyn_cast_or_null<RankedTensorType>(
        this->getTypeConverter()->convertType(op.getResult().getType()));
    auto operand = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
    if (!result || !operand)
      return op.emitError("a gather of a tensor without a static shape has no lowering");
    GatherDims dims = readDims(op.getDimensionNumbers());
    // The offsets' sizes are the slice's; what the result does not show has size 1. This holds for
    // dynamic_gather too, whose sizes are an operand but whose result has a static shape here.
    size_t nextOffset = 0;
    for (int64_t dim = 0; dim < operand.getRank(); ++dim) {
      bool hidden =
          llvm::is_contained(dims.collapsed, dim) || llvm::is_contained(dims.operandBatching, dim);
      dims.sliceSizes.push_back(hidden ? 1 : result.getDimSize(dims.offset[nextOffset++]));
    }
    rewriter.replaceOp(op, emitGather(rewriter, op.getLoc(), dims, adaptor.getOperand(),
                                      adaptor.getStartIndices(),
                                      elementTypeOf(op.getStartIndices().getType()), result));
    return success();
  }
};

// A gather of whole rows: the result's dimensions are the operand's before `dim`, then those of the
// index after the batch, then the rest of the operand's. Indices are clamped like a gather's.
class TorchIndexSelectLowering : public OpConversionPattern<stablehlo::TorchIndexSelectOp> {
public:
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::TorchIndexSelectOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter& rewriter) const override {
    auto result = dyn_cast_or_null<RankedTensorType>(
        getTypeConverter()->convertType(op.getResult().getType()));
    auto operand = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
    auto index = dyn_cast<RankedTensorType>(adaptor.getIndex().getType());
    if (!result || !operand || !index)
      return op.emitError(
          "a torch_index_select of a tensor without a static shape has no lowering");
    int64_t dim = op.getDim(), batch = op.getBatchDims();
    if (dim < 0)
      dim += operand.getRank();
    if (batch < 0)
      batch += index.getRank();
    if (dim < batch || dim >= operand.getRank() || batch > index.getRank())
      return op.emitError("torch_index_select with these dimensions has no lowering");
    GatherDims dims;
    int64_t indexDims = index.getRank() - batch;
    for (int64_t d = 0; d < operand.getRank(); ++d) {
      if (d < batch) {
        dims.operandBatching.push_back(d);
        dims.indicesBatching.push_back(d);
      } else if (d == dim) {
        dims.collapsed.push_back(d);
      } else {
        dims.offset.push_back(d < dim ? d : d - 1 + indexDims);
      }
      bool hidden = d < batch || d == dim;
      dims.sliceSizes.push_back(hidden ? 1 : operand.getDimSize(d));
    }
    dims.startIndexMap = {dim};
    dims.indexVector = index.getRank();
    rewriter.replaceOp(op, emitGather(rewriter, op.getLoc(), dims, adaptor.getOperand(),
                                      adaptor.getIndex(), elementTypeOf(op.getIndex().getType()),
                                      result));
    return success();
  }
};

} // namespace

void populateIndexing(LoweringTypes& types, RewritePatternSet& patterns) {
  patterns.add<GatherLowering<stablehlo::GatherOp>, GatherLowering<stablehlo::DynamicGatherOp>,
               TorchIndexSelectLowering>(types, patterns.getContext());
  populateScatter(types, patterns);
}

} // namespace nocturne::compiler
