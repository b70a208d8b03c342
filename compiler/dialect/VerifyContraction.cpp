// Contractions, convolutions and dense linear algebra.

#include "compiler/dialect/StablehloOps.h"
#include "compiler/dialect/VerifyHelpers.h"

using namespace mlir;

namespace nocturne::stablehlo {

LogicalResult DotOp::verify() {
  auto lhs = rankedType(getLhs()), rhs = rankedType(getRhs());
  if (!lhs || !rhs)
    return success();
  for (RankedTensorType type : {lhs, rhs})
    if (type.getRank() < 1 || type.getRank() > 2)
      return emitOpError() << "expected operands of rank 1 or 2, got " << type;
  if (!sizesAgree(lhs.getShape().back(), rhs.getShape().front()))
    return emitOpError() << "expected contracted dimensions of one size, got "
                         << lhs.getShape().back() << " and " << rhs.getShape().front();
  Dims expected(lhs.getShape().drop_back());
  llvm::append_range(expected, rhs.getShape().drop_front());
  return checkShape(*this, "a result", getResult().getType(), expected);
}

// Paired dimensions exist, are distinct and have the same sizes.
static LogicalResult verifyPairs(Operation* op, StringRef kind, RankedTensorType lhs,
                                 ArrayRef<int64_t> lhsDims, RankedTensorType rhs,
                                 ArrayRef<int64_t> rhsDims) {
  if (lhsDims.size() != rhsDims.size())
    return op->emitOpError() << "expected as many " << kind << " dimensions on both sides, got "
                             << lhsDims.size() << " and " << rhsDims.size();
  for (auto [left, right] : llvm::zip(lhsDims, rhsDims)) {
    if (failed(checkDim(op, "lhs dimensions", left, lhs.getRank())) ||
        failed(checkDim(op, "rhs dimensions", right, rhs.getRank())))
      return failure();
    const int64_t leftSize = lhs.getDimSize(static_cast<unsigned>(left)),
                  rightSize = rhs.getDimSize(static_cast<unsigned>(right));
    if (!sizesAgree(leftSize, rightSize))
      return op->emitOpError() << "expected " << kind << " dimensions of one size, got " << leftSize
                               << " (lhs dimension " << left << ") and " << rightSize
                               << " (rhs dimension " << right << ")";
  }
  return success();
}

static void appendFreeDims(Dims& shape, RankedTensorType type, ArrayRef<int64_t> used) {
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(used, static_cast<int64_t>(dim)))
      shape.push_back(size);
}

LogicalResult DotGeneralOp::verify() {
  auto lhs = rankedType(getLhs()), rhs = rankedType(getRhs());
  if (!lhs || !rhs)
    return success();
  DotDimensionNumbersAttr dims = getDotDimensionNumbers();
  ArrayRef<int64_t> lhsBatch = dims.getLhsBatchingDimensions(),
                    rhsBatch = dims.getRhsBatchingDimensions();
  if (failed(verifyPairs(*this, "batching", lhs, lhsBatch, rhs, rhsBatch)) ||
      failed(verifyPairs(*this, "contracting", lhs, dims.getLhsContractingDimensions(), rhs,
                         dims.getRhsContractingDimensions())))
    return failure();
  Dims lhsUsed(lhsBatch), rhsUsed(rhsBatch), expected;
  llvm::append_range(lhsUsed, dims.getLhsContractingDimensions());
  llvm::append_range(rhsUsed, dims.getRhsContractingDimensions());
  if (failed(checkDims(*this, "lhs dimensions", lhsUsed, lhs.getRank())) ||
      failed(checkDims(*this, "rhs dimensions", rhsUsed, rhs.getRank())))
    return failure();
  for (int64_t dim : lhsBatch)
    expected.push_back(lhs.getDimSize(static_cast<unsigned>(dim)));
  appendFreeDims(expected, lhs, lhsUsed);
  appendFreeDims(expected, rhs, rhsUsed);
  return checkShape(*this, "a result", getResult().getType(), expected);
}

LogicalResult EinsumOp::verify() {
  StringRef config = getEinsumConfig();
  auto [inputs, result] = config.split("->");
  if (inputs.contains(',') && config.contains("->"))
    return success();
  return emitOpError() << "expected a configuration like \"ij,jk->ik\", got \"" << config << '"';
}

LogicalResult UnaryEinsumOp::verify() {
  StringRef config = getEinsumConfig();
  if (config.contains("->") && !config.contains(','))
    return success();
  return emitOpError() << "expected a configuration like \"ij->i\", got \"" << config << '"';
}

//===------------------------------------------------------------------------------------------===//
// Convolutions
//===------------------------------------------------------------------------------------------===//

// The dimensions of one tensor are a permutation of [0, rank).
static LogicalResult verifyConvGroup(Operation* op, StringRef what, RankedTensorType type,
                                     int64_t first, int64_t second, ArrayRef<int64_t> spatial) {
  Dims dims{first, second};
  llvm::append_range(dims, spatial);
  if (static_cast<int64_t>(dims.size()) != type.getRank())
    return op->emitOpError() << "expected " << what << " of rank " << dims.size() << ", got "
                             << type;
  return checkDims(op, what, dims, type.getRank());
}

// The size that dividing `size` by `count` leaves; kDynamic stays.
static int64_t divide(int64_t size, int64_t count) {
  return ShapedType::isDynamic(size) ? size : size / count;
}

template <typename ConvOp>
static LogicalResult verifyGroups(ConvOp op, RankedTensorType lhs, RankedTensorType rhs,
                                  ConvDimensionNumbersAttr dims) {
  const int64_t featureGroups = op.getFeatureGroupCount(), batchGroups = op.getBatchGroupCount();
  if (featureGroups < 1 || batchGroups < 1)
    return op.emitOpError() << "expected positive group counts, got " << featureGroups
                            << " feature group(s) and " << batchGroups << " batch group(s)";
  auto size = [](RankedTensorType type, int64_t dim) {
    return type.getDimSize(static_cast<unsigned>(dim));
  };
  const int64_t features = size(lhs, dims.getInputFeatureDimension()),
                batch = size(lhs, dims.getInputBatchDimension()),
                kernelIn = size(rhs, dims.getKernelInputFeatureDimension()),
                kernelOut = size(rhs, dims.getKernelOutputFeatureDimension());
  auto divides = [](int64_t count, int64_t total) {
    return ShapedType::isDynamic(total) || total % count == 0;
  };
  if (!divides(featureGroups, features) || !divides(featureGroups, kernelOut))
    return op.emitOpError() << "expected " << featureGroups
                            << " feature group(s) to divide the input's and output's features, got "
                            << features << " and " << kernelOut;
  if (!divides(batchGroups, batch) || !divides(batchGroups, kernelOut))
    return op.emitOpError() << "expected " << batchGroups
                            << " batch group(s) to divide the batch and the output features, got "
                            << batch << " and " << kernelOut;
  if (!sizesAgree(divide(features, featureGroups), kernelIn))
    return op.emitOpError() << "expected a kernel with " << divide(features, featureGroups)
                            << " input feature(s), got " << kernelIn;
  return success();
}

// The result's shape; without a window its spatial sizes are unknown.
static Dims convResultShape(ConvDimensionNumbersAttr dims, RankedTensorType lhs,
                            RankedTensorType rhs, int64_t batchGroups, ArrayRef<WindowDim> window) {
  Dims shape(static_cast<size_t>(lhs.getRank()), ShapedType::kDynamic);
  auto at = [&](int64_t dim) -> int64_t& { return shape[static_cast<size_t>(dim)]; };
  at(dims.getOutputBatchDimension()) =
      divide(lhs.getDimSize(static_cast<unsigned>(dims.getInputBatchDimension())), batchGroups);
  at(dims.getOutputFeatureDimension()) =
      rhs.getDimSize(static_cast<unsigned>(dims.getKernelOutputFeatureDimension()));
  for (auto [i, dim] : llvm::enumerate(window))
    at(dims.getOutputSpatialDimensions()[i]) = windowedSize(
        lhs.getDimSize(static_cast<unsigned>(dims.getInputSpatialDimensions()[i])), dim);
  return shape;
}

template <typename ConvOp>
static LogicalResult verifyConvolution(ConvOp op, bool paddingIsStatic) {
  auto lhs = rankedType(op.getLhs()), rhs = rankedType(op.getRhs());
  if (!lhs || !rhs)
    return success();
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  if (failed(verifyConvGroup(op, "an input", lhs, dims.getInputBatchDimension(),
                             dims.getInputFeatureDimension(), dims.getInputSpatialDimensions())) ||
      failed(verifyConvGroup(op, "a kernel", rhs, dims.getKernelInputFeatureDimension(),
                             dims.getKernelOutputFeatureDimension(),
                             dims.getKernelSpatialDimensions())))
    return failure();
  if (auto result = rankedType(op.getResult());
      result &&
      failed(verifyConvGroup(op, "a result", result, dims.getOutputBatchDimension(),
                             dims.getOutputFeatureDimension(), dims.getOutputSpatialDimensions())))
    return failure();
  if (lhs.getRank() != rhs.getRank())
    return op.emitOpError() << "expected input and kernel of one rank, got " << lhs << " and "
                            << rhs;
  if (failed(verifyGroups(op, lhs, rhs, dims)))
    return failure();
  Dims sizes;
  for (int64_t dim : dims.getKernelSpatialDimensions())
    sizes.push_back(rhs.getDimSize(static_cast<unsigned>(dim)));
  if (Attribute reversal = op.getWindowReversal().value_or(Attribute());
      reversal &&
      failed(checkCount(op, "reversal flags", readBoolList(reversal).size(), sizes.size())))
    return failure();
  FailureOr<SmallVector<WindowDim>> window =
      readWindow(op, sizes, op.getWindowStridesAttr(), op.getPaddingAttr(), op.getLhsDilationAttr(),
                 op.getRhsDilationAttr());
  if (failed(window))
    return failure();
  return checkShape(
      op, "a result", op.getResult().getType(),
      convResultShape(dims, lhs, rhs, op.getBatchGroupCount(),
                      paddingIsStatic ? ArrayRef<WindowDim>(*window) : ArrayRef<WindowDim>()));
}

LogicalResult ConvolutionOp::verify() {
  return verifyConvolution(*this, true);
}
LogicalResult DynamicConvOp::verify() {
  return verifyConvolution(*this, false);
}

//===------------------------------------------------------------------------------------------===//
// Dense linear algebra
//===------------------------------------------------------------------------------------------===//

static LogicalResult verifySquare(Operation* op, RankedTensorType type) {
  if (type.getRank() < 2)
    return op->emitOpError() << "expected an operand of rank 2 or more, got " << type;
  ArrayRef<int64_t> matrix = type.getShape().take_back(2);
  if (!sizesAgree(matrix[0], matrix[1]))
    return op->emitOpError() << "expected square matrices, got " << type;
  return success();
}

LogicalResult CholeskyOp::verify() {
  auto type = rankedType(getA());
  return type ? verifySquare(*this, type) : success();
}

LogicalResult TriangularSolveOp::verify() {
  auto a = rankedType(getA()), b = rankedType(getB());
  if (!typesAgree(getB().getType(), getResult().getType()))
    return emitOpError() << "expected a result of b's type " << getB().getType() << ", got "
                         << getResult().getType();
  if (!a || !b)
    return success();
  if (failed(verifySquare(*this, a)))
    return failure();
  if (a.getRank() != b.getRank())
    return emitOpError() << "expected operands of one rank, got " << a << " and " << b;
  const int64_t solved = b.getShape()[b.getShape().size() - (isFlagSet(getLeftSide()) ? 2 : 1)];
  if (!sizesAgree(solved, a.getShape().back()))
    return emitOpError() << "expected b to have " << a.getShape().back()
                         << " element(s) in the solved dimension, got " << solved;
  return success();
}

LogicalResult FftOp::verify() {
  auto operand = rankedType(getOperand());
  Dims lengths = readI64List(getFftLength());
  if (lengths.empty() || lengths.size() > 3)
    return emitOpError() << "expected 1 to 3 lengths, got " << lengths.size();
  if (!operand)
    return success();
  if (operand.getRank() < static_cast<int64_t>(lengths.size()))
    return emitOpError() << "expected an operand of rank " << lengths.size() << " or more, got "
                         << operand;
  Dims expected(operand.getShape());
  if (getFftType() == FftType::RFFT)
    expected.back() = lengths.back() == 0 ? 0 : lengths.back() / 2 + 1;
  else if (getFftType() == FftType::IRFFT)
    expected.back() = lengths.back();
  return checkShape(*this, "a result", getResult().getType(), expected);
}

} // namespace nocturne::stablehlo
