// Operations that create, move, cut or view data.

#include "compiler/dialect/StablehloOps.h"
#include "compiler/dialect/VerifyHelpers.h"

using namespace mlir;

namespace nocturne::stablehlo {

static LogicalResult verifySameElement(Operation* op, Value operand) {
  if (elementsAgree(operand.getType(), op->getResult(0).getType()))
    return success();
  return op->emitOpError() << "expected operand and result of one element type, got "
                           << operand.getType() << " and " << op->getResult(0).getType();
}

static LogicalResult verifyRank(Operation* op, StringRef what, Value value, int64_t rank) {
  auto type = rankedType(value);
  if (!type || type.getRank() == rank)
    return success();
  return op->emitOpError() << "expected " << what << " of rank " << rank << ", got " << type;
}

// A one-dimensional operand that has a number for each of `rank` dimensions.
static LogicalResult verifyIndexVector(Operation* op, StringRef what, Value value, int64_t rank) {
  if (failed(verifyRank(op, what, value, 1)))
    return failure();
  auto type = rankedType(value);
  if (!type || sizesAgree(type.getDimSize(0), rank))
    return success();
  return op->emitOpError() << "expected " << what << " with " << rank << " element(s), got "
                           << type;
}

LogicalResult ConstantOp::verify() {
  // Only the shape: a quantized constant's value has the storage type.
  auto value = getValue().getShapedType();
  if (succeeded(verifyCompatibleShape(value, getType())))
    return success();
  return emitOpError() << "expected a value of the result's shape " << getType() << ", got "
                       << value;
}

LogicalResult IotaOp::verify() {
  auto type = rankedType(getResult());
  return type ? checkDim(*this, "iota dimension", getIotaDimension(), type.getRank()) : success();
}

LogicalResult DynamicIotaOp::verify() {
  auto type = rankedType(getResult());
  if (!type)
    return success();
  if (failed(verifyIndexVector(*this, "output shape", getOutputShape(), type.getRank())))
    return failure();
  return checkDim(*this, "iota dimension", getIotaDimension(), type.getRank());
}

LogicalResult ReshapeOp::verify() {
  TensorType from = getOperand().getType(), to = getResult().getType();
  if (failed(verifySameElement(*this, getOperand())))
    return failure();
  if (!from.hasStaticShape() || !to.hasStaticShape() ||
      from.getNumElements() == to.getNumElements())
    return success();
  return emitOpError() << "expected operand and result with the same number of elements, got "
                       << from.getNumElements() << " and " << to.getNumElements();
}

LogicalResult DynamicReshapeOp::verify() {
  if (failed(verifySameElement(*this, getOperand())))
    return failure();
  auto type = rankedType(getResult());
  return type ? verifyIndexVector(*this, "output shape", getOutputShape(), type.getRank())
              : success();
}

// Bits of one element, or 0 where that is not known. A boolean counts as unknown: writers disagree
// on whether it is one bit or one byte.
static unsigned elementBits(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * elementBits(complex.getElementType());
  return element.isIntOrFloat() && !isBoolean(element) ? element.getIntOrFloatBitWidth() : 0;
}

LogicalResult BitcastConvertOp::verify() {
  auto from = rankedType(getOperand()), to = rankedType(getResult());
  const unsigned fromBits = elementBits(getOperand().getType()),
                 toBits = elementBits(getResult().getType());
  if (!from || !to || fromBits == 0 || toBits == 0)
    return success();
  if (fromBits == toBits)
    return checkShape(*this, "a result", to, from.getShape());
  // The wider side has one dimension less, whose elements fill one wide element.
  RankedTensorType wide = fromBits > toBits ? from : to, narrow = fromBits > toBits ? to : from;
  const unsigned ratio = std::max(fromBits, toBits) / std::min(fromBits, toBits);
  Dims expected(wide.getShape());
  expected.push_back(ratio);
  return checkShape(*this, fromBits > toBits ? "a result" : "an operand", narrow, expected);
}

LogicalResult BroadcastOp::verify() {
  auto operand = rankedType(getOperand());
  if (failed(verifySameElement(*this, getOperand())) || !operand)
    return success(operand == nullptr);
  Dims expected = readI64List(getBroadcastSizes());
  llvm::append_range(expected, operand.getShape());
  return checkShape(*this, "a result", getResult().getType(), expected);
}

// Operand dimension i becomes result dimension dims[i]: of the same size, or of size 1 before.
static LogicalResult verifyBroadcastDims(Operation* op, RankedTensorType operand,
                                         RankedTensorType result, ArrayRef<int64_t> dims) {
  if (!operand || !result)
    return success();
  if (failed(checkCount(op, "broadcast dimensions", dims.size(),
                        static_cast<size_t>(operand.getRank()))) ||
      failed(checkDims(op, "broadcast dimensions", dims, result.getRank())))
    return failure();
  for (auto [size, dim] : llvm::zip(operand.getShape(), dims))
    if (size != 1 && !sizesAgree(size, result.getDimSize(static_cast<unsigned>(dim))))
      return op->emitOpError() << "expected an operand dimension of size 1 or "
                               << result.getDimSize(static_cast<unsigned>(dim))
                               << " for result dimension " << dim << ", got " << size;
  return success();
}

LogicalResult BroadcastInDimOp::verify() {
  if (failed(verifySameElement(*this, getOperand())))
    return failure();
  return verifyBroadcastDims(*this, rankedType(getOperand()), rankedType(getResult()),
                             readI64List(getBroadcastDimensions()));
}

LogicalResult DynamicBroadcastInDimOp::verify() {
  auto result = rankedType(getResult());
  if (failed(verifySameElement(*this, getOperand())))
    return failure();
  if (result && failed(verifyIndexVector(*this, "output dimensions", getOutputDimensions(),
                                         result.getRank())))
    return failure();
  return verifyBroadcastDims(*this, rankedType(getOperand()), result,
                             readI64List(getBroadcastDimensions()));
}

LogicalResult TransposeOp::verify() {
  auto operand = rankedType(getOperand());
  if (failed(verifySameElement(*this, getOperand())))
    return failure();
  if (!operand)
    return success();
  Dims permutation = readI64List(getPermutation());
  if (failed(checkCount(*this, "permutation entries", permutation.size(),
                        static_cast<size_t>(operand.getRank()))) ||
      failed(checkDims(*this, "permutation entries", permutation, operand.getRank())))
    return failure();
  Dims expected;
  for (int64_t dim : permutation)
    expected.push_back(operand.getDimSize(static_cast<unsigned>(dim)));
  return checkShape(*this, "a result", getResult().getType(), expected);
}

LogicalResult ReverseOp::verify() {
  auto operand = rankedType(getOperand());
  return operand ? checkDims(*this, "dimensions", readI64List(getDimensions()), operand.getRank())
                 : success();
}

LogicalResult ConcatenateOp::verify() {
  if (getInputs().empty())
    return emitOpError() << "expected at least 1 operand, got 0";
  const int64_t dimension = getDimension();
  auto axis = static_cast<size_t>(dimension);
  Dims expected;
  for (Value input : getInputs()) {
    auto type = rankedType(input);
    if (failed(verifySameElement(*this, input)))
      return failure();
    if (!type)
      return success();
    if (failed(checkDim(*this, "dimension", dimension, type.getRank())))
      return failure();
    if (expected.empty()) {
      llvm::append_range(expected, type.getShape());
      continue;
    }
    if (expected.size() != static_cast<size_t>(type.getRank()))
      return emitOpError() << "expected operands of rank " << expected.size() << ", got " << type;
    for (size_t i = 0; i < expected.size(); ++i) {
      int64_t size = type.getDimSize(static_cast<unsigned>(i));
      if (i == axis)
        expected[i] = ShapedType::isDynamic(size) || ShapedType::isDynamic(expected[i])
                          ? ShapedType::kDynamic
                          : expected[i] + size;
      else if (!sizesAgree(expected[i], size))
        return emitOpError() << "expected operands of size " << expected[i] << " in dimension " << i
                             << ", got " << size;
      else if (ShapedType::isDynamic(expected[i]))
        expected[i] = size;
    }
  }
  return checkShape(*this, "a result", getResult().getType(), expected);
}

LogicalResult PadOp::verify() {
  auto operand = rankedType(getOperand());
  if (failed(verifySameElement(*this, getOperand())) ||
      failed(verifyRank(*this, "a padding value", getPaddingValue(), 0)))
    return failure();
  if (!operand)
    return success();
  const auto rank = static_cast<size_t>(operand.getRank());
  Dims low = readI64List(getEdgePaddingLow()), high = readI64List(getEdgePaddingHigh()),
       interior = readI64List(getInteriorPadding());
  if (failed(checkCount(*this, "low padding values", low.size(), rank)) ||
      failed(checkCount(*this, "high padding values", high.size(), rank)) ||
      failed(checkCount(*this, "interior padding values", interior.size(), rank)))
    return failure();
  Dims expected;
  for (auto [i, size] : llvm::enumerate(operand.getShape())) {
    if (interior[i] < 0)
      return emitOpError() << "expected interior padding of at least 0, got " << interior[i];
    if (ShapedType::isDynamic(size)) {
      expected.push_back(size);
      continue;
    }
    const int64_t padded = size + low[i] + high[i] + std::max<int64_t>(size - 1, 0) * interior[i];
    if (padded < 0)
      return emitOpError() << "expected padding that leaves dimension " << i
                           << " at least 0 elements, got " << padded;
    expected.push_back(padded);
  }
  return checkShape(*this, "a result", getResult().getType(), expected);
}

LogicalResult DynamicPadOp::verify() {
  auto operand = rankedType(getOperand());
  if (failed(verifySameElement(*this, getOperand())) ||
      failed(verifyRank(*this, "a padding value", getPaddingValue(), 0)))
    return failure();
  if (!operand)
    return success();
  for (Value vector : {getEdgePaddingLow(), getEdgePaddingHigh(), getInteriorPadding()})
    if (failed(verifyIndexVector(*this, "padding", vector, operand.getRank())))
      return failure();
  return verifyRank(*this, "a result", getResult(), operand.getRank());
}

LogicalResult SliceOp::verify() {
  auto operand = rankedType(getOperand());
  if (failed(verifySameElement(*this, getOperand())))
    return failure();
  if (!operand)
    return success();
  const auto rank = static_cast<size_t>(operand.getRank());
  Dims start = readI64List(getStartIndices()), limit = readI64List(getLimitIndices()),
       stride = readI64List(getStrides());
  if (failed(checkCount(*this, "start indices", start.size(), rank)) ||
      failed(checkCount(*this, "limit indices", limit.size(), rank)) ||
      failed(checkCount(*this, "strides", stride.size(), rank)))
    return failure();
  Dims expected;
  for (auto [i, size] : llvm::enumerate(operand.getShape())) {
    if (start[i] < 0 || limit[i] < start[i] || (!ShapedType::isDynamic(size) && limit[i] > size))
      return emitOpError() << "expected 0 <= start <= limit <= size in dimension " << i
                           << ", got start " << start[i] << ", limit " << limit[i] << " and size "
                           << (ShapedType::isDynamic(size) ? -1 : size);
    if (stride[i] <= 0)
      return emitOpError() << "expected positive strides, got " << stride[i];
    // Divided before rounding up, so that huge strides cannot overflow.
    const int64_t length = limit[i] - start[i];
    expected.push_back(length / stride[i] + (length % stride[i] != 0));
  }
  return checkShape(*this, "a result", getResult().getType(), expected);
}

LogicalResult DynamicSliceOp::verify() {
  auto operand = rankedType(getOperand());
  if (failed(verifySameElement(*this, getOperand())))
    return failure();
  if (!operand)
    return success();
  const auto rank = static_cast<size_t>(operand.getRank());
  Dims sizes = readI64List(getSliceSizes());
  if (failed(checkCount(*this, "start indices", getStartIndices().size(), rank)) ||
      failed(checkCount(*this, "slice sizes", sizes.size(), rank)))
    return failure();
  for (auto [i, size] : llvm::enumerate(operand.getShape()))
    if (sizes[i] < 0 || (!ShapedType::isDynamic(size) && sizes[i] > size))
      return emitOpError() << "expected a slice size in [0, " << size << "] in dimension " << i
                           << ", got " << sizes[i];
  return checkShape(*this, "a result", getResult().getType(), sizes);
}

LogicalResult RealDynamicSliceOp::verify() {
  auto operand = rankedType(getOperand());
  if (failed(verifySameElement(*this, getOperand())))
    return failure();
  if (!operand)
    return success();
  for (Value vector : {getStartIndices(), getLimitIndices(), getStrides()})
    if (failed(verifyIndexVector(*this, "slice indices", vector, operand.getRank())))
      return failure();
  return verifyRank(*this, "a result", getResult(), operand.getRank());
}

LogicalResult DynamicUpdateSliceOp::verify() {
  auto operand = rankedType(getOperand()), update = rankedType(getUpdate());
  if (!typesAgree(getOperand().getType(), getResult().getType()))
    return emitOpError() << "expected a result of the operand's type " << getOperand().getType()
                         << ", got " << getResult().getType();
  if (failed(verifySameElement(*this, getUpdate())))
    return failure();
  if (!operand)
    return success();
  if (failed(checkCount(*this, "start indices", getStartIndices().size(),
                        static_cast<size_t>(operand.getRank()))) ||
      failed(verifyRank(*this, "an update", getUpdate(), operand.getRank())))
    return failure();
  if (!update)
    return success();
  for (auto [i, sizes] : llvm::enumerate(llvm::zip(update.getShape(), operand.getShape())))
    if (auto [part, whole] = sizes;
        !ShapedType::isDynamic(part) && !ShapedType::isDynamic(whole) && part > whole)
      return emitOpError() << "expected an update of at most " << whole
                           << " element(s) in dimension " << i << ", got " << part;
  return success();
}

LogicalResult GetDimensionSizeOp::verify() {
  auto operand = rankedType(getOperand());
  if (failed(verifyRank(*this, "a result", getResult(), 0)))
    return failure();
  return operand ? checkDim(*this, "dimension", getDimension(), operand.getRank()) : success();
}

LogicalResult SetDimensionSizeOp::verify() {
  auto operand = rankedType(getOperand());
  if (failed(verifyRank(*this, "a size", getSize(), 0)))
    return failure();
  return operand ? checkDim(*this, "dimension", getDimension(), operand.getRank()) : success();
}

} // namespace nocturne::stablehlo
