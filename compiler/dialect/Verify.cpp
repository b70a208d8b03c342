// The traits of Traits.h, and elementwise operations.

#include "compiler/dialect/StablehloOps.h"
#include "compiler/dialect/VerifyHelpers.h"

using namespace mlir;

namespace nocturne::stablehlo {

LogicalResult detail::verifyCompatibleShapes(Operation* op) {
  TensorType first;
  auto check = [&](Value value) -> LogicalResult {
    auto type = dyn_cast<TensorType>(value.getType());
    if (!type || !first) {
      first = first ? first : type;
      return success();
    }
    if (type.getShape().data() == first.getShape().data() ||
        succeeded(verifyCompatibleShape(first, type)))
      return success();
    return op->emitOpError() << "expected operands and results of compatible shapes, got " << first
                             << " and " << type;
  };
  for (Value operand : op->getOperands())
    if (failed(check(operand)))
      return failure();
  for (Value result : op->getResults())
    if (failed(check(result)))
      return failure();
  return success();
}

LogicalResult detail::verifySameElementTypes(Operation* op) {
  if (op->getNumOperands() == 0)
    return success();
  Type first = op->getOperand(0).getType();
  auto check = [&](Type type) -> LogicalResult {
    if (type == first || elementsAgree(type, first))
      return success();
    return op->emitOpError() << "expected operands and results of one element type, got " << first
                             << " and " << type;
  };
  for (Type type : op->getOperandTypes())
    if (failed(check(type)))
      return failure();
  for (Type type : op->getResultTypes())
    if (failed(check(type)))
      return failure();
  return success();
}

// The result holds the real parts, or values of the operand's own type where it is not complex.
static LogicalResult verifyRealResult(Operation* op) {
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  auto complex = dyn_cast<ComplexType>(element);
  Type expected = complex ? complex.getElementType() : element;
  Type result = getElementTypeOrSelf(op->getResult(0).getType());
  if (elementsAgree(expected, result))
    return success();
  return op->emitOpError() << "expected a result of " << expected << " values, got " << result;
}

LogicalResult AbsOp::verify() {
  return verifyRealResult(*this);
}
LogicalResult ImagOp::verify() {
  return verifyRealResult(*this);
}
LogicalResult RealOp::verify() {
  return verifyRealResult(*this);
}

LogicalResult ComplexOp::verify() {
  Type part = cast<ComplexType>(getResult().getType().getElementType()).getElementType();
  for (Value operand : {getLhs(), getRhs()})
    if (Type element = getElementTypeOrSelf(operand.getType()); element != part)
      return emitOpError() << "expected operands of " << part << " values, got " << element;
  return success();
}

LogicalResult UniformQuantizeOp::verify() {
  if (isQuantized(getElementTypeOrSelf(getResult().getType())))
    return success();
  return emitOpError() << "expected a quantized result, got " << getResult().getType();
}

LogicalResult UniformDequantizeOp::verify() {
  if (isQuantized(getElementTypeOrSelf(getOperand().getType())))
    return success();
  return emitOpError() << "expected a quantized operand, got " << getOperand().getType();
}

LogicalResult ReducePrecisionOp::verify() {
  if (getExponentBits() < 1)
    return emitOpError() << "expected at least 1 exponent bit, got " << getExponentBits();
  if (getMantissaBits() < 0)
    return emitOpError() << "expected at least 0 mantissa bits, got " << getMantissaBits();
  return success();
}

LogicalResult CompareOp::verify() {
  if (elementsAgree(getLhs().getType(), getRhs().getType()))
    return success();
  return emitOpError() << "expected operands of one element type, got " << getLhs().getType()
                       << " and " << getRhs().getType();
}

LogicalResult SelectOp::verify() {
  for (Value value : {getOnTrue(), getOnFalse()})
    if (!typesAgree(value.getType(), getResult().getType()))
      return emitOpError() << "expected both values to have the result's type "
                           << getResult().getType() << ", got " << value.getType();
  auto pred = rankedType(getPred());
  if (!pred || pred.getRank() == 0 ||
      typesAgree(pred.clone(getResult().getType().getElementType()), getResult().getType()))
    return success();
  return emitOpError() << "expected a scalar predicate or one of the result's shape, got "
                       << getPred().getType();
}

LogicalResult ClampOp::verify() {
  if (!typesAgree(getOperand().getType(), getResult().getType()))
    return emitOpError() << "expected the operand's type to be the result's, got "
                         << getOperand().getType() << " and " << getResult().getType();
  for (Value bound : {getMin(), getMax()}) {
    auto type = rankedType(bound);
    if (type && type.getRank() != 0 && !typesAgree(type, getOperand().getType()))
      return emitOpError() << "expected scalar bounds or bounds of the operand's shape, got "
                           << type;
  }
  return success();
}

} // namespace nocturne::stablehlo
