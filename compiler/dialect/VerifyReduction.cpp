// Operations with a computation as a region, indexed access and batch normalization.

#include "compiler/dialect/StablehloOps.h"
#include "compiler/dialect/VerifyHelpers.h"

using namespace mlir;

namespace nocturne::stablehlo {

// N inputs of one shape, N initial values, N results and a body from 2N to N values.
template <typename ReduceLikeOp>
static LogicalResult verifyReducer(ReduceLikeOp op) {
  const size_t count = op.getInputs().size();
  if (count == 0)
    return op.emitOpError() << "expected at least 1 input, got 0";
  if (failed(checkCount(op, "initial values", op.getInitValues().size(), count)) ||
      failed(checkCount(op, "results", op->getNumResults(), count)) ||
      failed(checkRegion(op, "reducer", op.getBody(), 2 * count)) ||
      failed(checkReturns(op, "reducer", op.getBody(), count)))
    return failure();
  for (Value init : op.getInitValues())
    if (auto type = rankedType(init); type && type.getRank() != 0)
      return op.emitOpError() << "expected scalar initial values, got " << type;
  Type first = op.getInputs()[0].getType();
  for (Value input : op.getInputs())
    if (failed(verifyCompatibleShape(first, input.getType())))
      return op.emitOpError() << "expected inputs of compatible shapes, got " << first << " and "
                              << input.getType();
  return success();
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyReducer(*this)))
    return failure();
  auto input = rankedType(getInputs()[0]);
  if (!input)
    return success();
  Dims dimensions = readI64List(getDimensions()), expected;
  if (failed(checkDims(*this, "dimensions", dimensions, input.getRank())))
    return failure();
  for (auto [dim, size] : llvm::enumerate(input.getShape()))
    if (!llvm::is_contained(dimensions, static_cast<int64_t>(dim)))
      expected.push_back(size);
  for (Type type : getResultTypes())
    if (failed(checkShape(*this, "results", type, expected)))
      return failure();
  return success();
}

LogicalResult ReduceWindowOp::verify() {
  if (failed(verifyReducer(*this)))
    return failure();
  auto input = rankedType(getInputs()[0]);
  if (!input)
    return success();
  Dims sizes = readI64List(getWindowDimensions()), expected;
  if (failed(checkCount(*this, "window dimensions", sizes.size(),
                        static_cast<size_t>(input.getRank()))))
    return failure();
  FailureOr<SmallVector<WindowDim>> window =
      readWindow(*this, sizes, getWindowStridesAttr(), getPaddingAttr(), getBaseDilationsAttr(),
                 getWindowDilationsAttr());
  if (failed(window))
    return failure();
  for (auto [size, dim] : llvm::zip(input.getShape(), *window))
    expected.push_back(windowedSize(size, dim));
  for (Type type : getResultTypes())
    if (failed(checkShape(*this, "results", type, expected)))
      return failure();
  return success();
}

LogicalResult SelectAndScatterOp::verify() {
  if (failed(checkRegion(*this, "select region", getSelect(), 2)) ||
      failed(checkReturns(*this, "select region", getSelect(), 1)) ||
      failed(checkRegion(*this, "scatter region", getScatter(), 2)) ||
      failed(checkReturns(*this, "scatter region", getScatter(), 1)))
    return failure();
  auto operand = rankedType(getOperand());
  if (!operand)
    return success();
  if (failed(checkShape(*this, "a result", getResult().getType(), operand.getShape())))
    return failure();
  const auto rank = static_cast<size_t>(operand.getRank());
  Dims sizes = readI64ListOr(getWindowDimensionsAttr(), rank, 1), expected;
  if (failed(checkCount(*this, "window dimensions", sizes.size(), rank)))
    return failure();
  FailureOr<SmallVector<WindowDim>> window =
      readWindow(*this, sizes, getWindowStridesAttr(), getPaddingAttr(), {}, {});
  if (failed(window))
    return failure();
  for (auto [size, dim] : llvm::zip(operand.getShape(), *window))
    expected.push_back(windowedSize(size, dim));
  return checkShape(*this, "a source", getSource().getType(), expected);
}

LogicalResult SortOp::verify() {
  const size_t count = getInputs().size();
  if (count == 0)
    return emitOpError() << "expected at least 1 input, got 0";
  if (failed(checkCount(*this, "results", getNumResults(), count)) ||
      failed(checkRegion(*this, "comparator", getComparator(), 2 * count)) ||
      failed(checkReturns(*this, "comparator", getComparator(), 1)))
    return failure();
  for (auto [input, result] : llvm::zip(getInputs(), getResults()))
    if (!typesAgree(input.getType(), result.getType()))
      return emitOpError() << "expected results of the inputs' types, got " << input.getType()
                           << " and " << result.getType();
  auto input = rankedType(getInputs()[0]);
  if (!input || !getDimension() || input.getRank() == 0)
    return success();
  // A negative dimension counts from the last.
  const int64_t dimension = *getDimension();
  return checkDim(*this, "dimension", dimension < 0 ? dimension + input.getRank() : dimension,
                  input.getRank());
}

LogicalResult MapOp::verify() {
  if (failed(checkRegion(*this, "computation", getComputation(), getInputs().size())) ||
      failed(checkReturns(*this, "computation", getComputation(), 1)))
    return failure();
  for (Value input : getInputs())
    if (failed(verifyCompatibleShape(input.getType(), getResult().getType())))
      return emitOpError() << "expected inputs of the result's shape, got " << input.getType()
                           << " and " << getResult().getType();
  return success();
}

//===------------------------------------------------------------------------------------------===//
// Indexed access
//===------------------------------------------------------------------------------------------===//

// The number of indices that one index vector holds; kDynamic where it is not known.
static FailureOr<int64_t> indexVectorSize(Operation* op, RankedTensorType indices,
                                          int64_t indexVectorDim) {
  if (indexVectorDim < 0 || indexVectorDim > indices.getRank())
    return op->emitOpError() << "expected index_vector_dim in [0, " << indices.getRank()
                             << "], got " << indexVectorDim;
  return indexVectorDim == indices.getRank()
             ? 1
             : indices.getDimSize(static_cast<unsigned>(indexVectorDim));
}

// What gather and scatter have in common: which operand dimensions the indices and windows cover.
struct IndexedAccess {
  ArrayRef<int64_t> windowDims;   // dimensions of the result or the updates
  ArrayRef<int64_t> droppedDims;  // operand dimensions with a window of size 1, left out
  ArrayRef<int64_t> batchingDims; // operand dimensions that run with the indices'
  ArrayRef<int64_t> indicesBatchingDims;
  ArrayRef<int64_t> indexMap;
  int64_t indexVectorDim = 0;
};

static LogicalResult verifyIndexedAccess(Operation* op, RankedTensorType operand,
                                         RankedTensorType indices, RankedTensorType windowed,
                                         const IndexedAccess& access) {
  FailureOr<int64_t> indexCount = indexVectorSize(op, indices, access.indexVectorDim);
  if (failed(indexCount))
    return failure();
  if (!sizesAgree(*indexCount, static_cast<int64_t>(access.indexMap.size())))
    return op->emitOpError() << "expected one operand dimension for each of " << *indexCount
                             << " indices, got " << access.indexMap.size();
  if (access.batchingDims.size() != access.indicesBatchingDims.size())
    return op->emitOpError() << "expected as many batching dimensions of operand and indices, got "
                             << access.batchingDims.size() << " and "
                             << access.indicesBatchingDims.size();
  Dims left(access.droppedDims);
  llvm::append_range(left, access.batchingDims);
  if (failed(checkDims(op, "operand dimensions", left, operand.getRank())) ||
      failed(checkDims(op, "index map", access.indexMap, operand.getRank())) ||
      failed(checkDims(op, "batching dimensions", access.indicesBatchingDims, indices.getRank())))
    return failure();
  const size_t covered = access.windowDims.size() + left.size();
  if (covered != static_cast<size_t>(operand.getRank()))
    return op->emitOpError() << "expected window, collapsed and batching dimensions to add up to "
                             << "the operand's rank " << operand.getRank() << ", got " << covered;
  if (!windowed)
    return success();
  const int64_t batchRank = indices.getRank() - (access.indexVectorDim < indices.getRank() ? 1 : 0);
  const int64_t rank = batchRank + static_cast<int64_t>(access.windowDims.size());
  if (windowed.getRank() != rank)
    return op->emitOpError() << "expected rank " << rank
                             << " from the indices' and window dimensions, got " << windowed;
  return checkDims(op, "window dimensions", access.windowDims, rank);
}

// The shape that a gather has, or a scatter's updates: the indices' dimensions without the index
// vector, with the window's between them. A window size of kDynamic is not checked.
static LogicalResult checkBatchDims(Operation* op, RankedTensorType indices,
                                    RankedTensorType windowed, const IndexedAccess& access) {
  Dims batch;
  for (auto [dim, size] : llvm::enumerate(indices.getShape()))
    if (static_cast<int64_t>(dim) != access.indexVectorDim)
      batch.push_back(size);
  Dims expected;
  size_t next = 0;
  for (int64_t dim = 0; dim < windowed.getRank(); ++dim)
    expected.push_back(llvm::is_contained(access.windowDims, dim) ? ShapedType::kDynamic
                                                                  : batch[next++]);
  return checkShape(op, "a tensor that follows the indices", windowed, expected);
}

template <typename GatherLikeOp>
static IndexedAccess gatherAccess(GatherLikeOp op) {
  GatherDimensionNumbersAttr dims = op.getDimensionNumbers();
  return {dims.getOffsetDims(),          dims.getCollapsedSliceDims(),
          dims.getOperandBatchingDims(), dims.getStartIndicesBatchingDims(),
          dims.getStartIndexMap(),       dims.getIndexVectorDim()};
}

template <typename GatherLikeOp>
static LogicalResult verifyGather(GatherLikeOp op) {
  auto operand = rankedType(op.getOperand()), indices = rankedType(op.getStartIndices()),
       result = rankedType(op.getResult());
  if (!elementsAgree(op.getOperand().getType(), op.getResult().getType()))
    return op.emitOpError() << "expected operand and result of one element type, got "
                            << op.getOperand().getType() << " and " << op.getResult().getType();
  if (!operand || !indices)
    return success();
  IndexedAccess access = gatherAccess(op);
  if (failed(verifyIndexedAccess(op, operand, indices, result, access)))
    return failure();
  return result ? checkBatchDims(op, indices, result, access) : success();
}

LogicalResult GatherOp::verify() {
  if (failed(verifyGather(*this)))
    return failure();
  auto operand = rankedType(getOperand());
  if (!operand)
    return success();
  Dims sizes = readI64List(getSliceSizes());
  if (failed(
          checkCount(*this, "slice sizes", sizes.size(), static_cast<size_t>(operand.getRank()))))
    return failure();
  for (auto [i, size] : llvm::enumerate(operand.getShape()))
    if (sizes[i] < 0 || (!ShapedType::isDynamic(size) && sizes[i] > size))
      return emitOpError() << "expected a slice size in [0, " << size << "] in dimension " << i
                           << ", got " << sizes[i];
  return success();
}

LogicalResult DynamicGatherOp::verify() {
  return verifyGather(*this);
}

LogicalResult ScatterOp::verify() {
  if (getNumOperands() < 3 || getNumOperands() % 2 == 0)
    return emitOpError() << "expected N inputs, indices and N updates, got " << getNumOperands()
                         << " operand(s)";
  const size_t count = inputCount();
  if (failed(checkCount(*this, "results", getNumResults(), count)) ||
      failed(checkRegion(*this, "update computation", getUpdateComputation(), 2 * count)) ||
      failed(checkReturns(*this, "update computation", getUpdateComputation(), count)))
    return failure();
  for (auto [input, result] : llvm::zip(getInputs(), getResults()))
    if (failed(verifyCompatibleShape(input.getType(), result.getType())))
      return emitOpError() << "expected results of the inputs' shapes, got " << input.getType()
                           << " and " << result.getType();
  auto indices = rankedType(getScatterIndices());
  ScatterDimensionNumbersAttr dims = getScatterDimensionNumbers();
  const IndexedAccess access{
      dims.getUpdateWindowDims(),         dims.getInsertedWindowDims(),
      dims.getInputBatchingDims(),        dims.getScatterIndicesBatchingDims(),
      dims.getScatterDimsToOperandDims(), dims.getIndexVectorDim()};
  for (auto [input, update] : llvm::zip(getInputs(), getUpdates())) {
    auto inputType = rankedType(input), updateType = rankedType(update);
    if (!inputType || !indices)
      continue;
    if (failed(verifyIndexedAccess(*this, inputType, indices, updateType, access)) ||
        (updateType && failed(checkBatchDims(*this, indices, updateType, access))))
      return failure();
  }
  return success();
}

//===------------------------------------------------------------------------------------------===//
// Batch normalization
//===------------------------------------------------------------------------------------------===//

// `vectors` have one value for each feature.
template <typename BatchNormOp>
static LogicalResult verifyBatchNorm(BatchNormOp op, Value full, ValueRange vectors) {
  auto operand = rankedType(op.getOperand());
  if (!operand)
    return success();
  if (failed(checkDim(op, "feature index", op.getFeatureIndex(), operand.getRank())) ||
      failed(checkShape(op, "a result", full.getType(), operand.getShape())))
    return failure();
  const int64_t features = operand.getDimSize(static_cast<unsigned>(op.getFeatureIndex()));
  for (Value vector : vectors)
    if (failed(
            checkShape(op, "one value for each feature, a vector", vector.getType(), {features})))
      return failure();
  return success();
}

LogicalResult BatchNormTrainingOp::verify() {
  return verifyBatchNorm(*this, getOutput(),
                         {getScale(), getOffset(), getBatchMean(), getBatchVar()});
}

LogicalResult BatchNormInferenceOp::verify() {
  return verifyBatchNorm(*this, getResult(), {getScale(), getOffset(), getMean(), getVariance()});
}

LogicalResult BatchNormGradOp::verify() {
  return verifyBatchNorm(*this, getGradOperand(),
                         {getScale(), getMean(), getVariance(), getGradScale(), getGradOffset()});
}

} // namespace nocturne::stablehlo
