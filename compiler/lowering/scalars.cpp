#include "compiler/lowering/scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"

#include "compiler/dialect/StablehloOps.h"
#include "compiler/lowering/tensors.h"
#include "compiler/lowering/types.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// The value of a constant of one element, as it is held; null for what has no such form.
Value emitConstant(OpBuilder& builder, stablehlo::ConstantOp op) {
  // Values that are apart from the text, or left out of it, are those of tensors.
  auto value = dyn_cast_or_null<DenseElementsAttr>(op->getAttr("value"));
  if (!value || (!value.isSplat() && value.getNumElements() != 1))
    return {};
  Location loc = op.getLoc();
  Type element = value.getElementType();
  Type storage = storageType(element);
  if (auto complex = dyn_cast<ComplexType>(element)) {
    if (!isa<FloatType>(complex.getElementType()))
      return {};
    auto number = *value.value_begin<std::complex<APFloat>>();
    auto part = [&](const APFloat& x) { return FloatAttr::get(complex.getElementType(), x); };
    auto parts = builder.getArrayAttr({part(number.real()), part(number.imag())});
    return complex::ConstantOp::create(builder, loc, complex, parts);
  }
  if (isa<FloatType>(element)) {
    auto number = *value.value_begin<APFloat>();
    if (isa<FloatType>(storage))
      return arith::ConstantOp::create(builder, loc, FloatAttr::get(storage, number));
    APInt code = number.bitcastToAPInt().zext(storage.getIntOrFloatBitWidth());
    return arith::ConstantOp::create(builder, loc, IntegerAttr::get(storage, code));
  }
  if (isa<IntegerType>(element)) {
    auto number = *value.value_begin<APInt>();
    return arith::ConstantOp::create(builder, loc, IntegerAttr::get(storage, number));
  }
  return {};
}

ScalarTable makeTable() {
  ScalarTable table;
  addArithmetic(table);
  addConversions(table);
  addMath(table);
  addComplexMath(table);
  addChloMath(table);
  return table;
}

// Only moves bits, whatever they mean.
bool movesBits(Operation* op) {
  return isa<stablehlo::SelectOp, stablehlo::BitcastConvertOp>(op);
}

// Between tensors of rank 0 these change nothing.
bool isIdentityAtRankZero(Operation* op) {
  return isa<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp, stablehlo::BroadcastOp,
             stablehlo::TransposeOp, stablehlo::OptimizationBarrierOp>(op);
}

} // namespace

Type widened(Type element) {
  return isa<FloatType>(element) ? computeType(element) : element;
}

const ScalarTable& scalarTable() {
  static const ScalarTable table = makeTable();
  return table;
}

Value emitScalarOp(OpBuilder& builder, Location loc, Operation* op, ValueRange stored) {
  ScalarEmitter emitter = scalarTable().find(op->getName().getStringRef());
  if (!emitter || op->getNumResults() != 1)
    return {};
  Type resultElement = elementTypeOf(op->getResult(0).getType());
  bool raw = movesBits(op);
  ScalarCall call{op, {}, raw ? resultElement : widened(resultElement), {}};
  SmallVector<Value> operands;
  for (auto [operand, value] : llvm::zip(op->getOperands(), stored)) {
    Type element = elementTypeOf(operand.getType());
    call.operandElements.push_back(raw ? element : widened(element));
    operands.push_back(raw ? value : decode(builder, loc, element, value));
  }
  call.operands = operands;
  Value result = emitter(builder, loc, call);
  if (!result)
    return {};
  return raw ? result : encode(builder, loc, resultElement, result);
}

LogicalResult emitScalarBody(OpBuilder& builder, Block& body, ValueRange stored,
                             SmallVectorImpl<Value>& results) {
  IRMapping values;
  values.map(body.getArguments(), stored);
  // Constants may stand around the region as well as in it.
  auto held = [&](Value operand) -> Value {
    if (!values.contains(operand)) {
      auto constant = operand.getDefiningOp<stablehlo::ConstantOp>();
      Value scalar = constant ? emitConstant(builder, constant) : Value();
      if (!scalar)
        return {};
      values.map(operand, scalar);
    }
    return values.lookup(operand);
  };
  for (Operation& op : body.without_terminator()) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) {
      // A value from around the region would be a tensor that was not taken apart here.
      Value value = held(operand);
      if (!value)
        return op.emitError("uses a value from outside of the region it is in, which has no "
                            "lowering in a function applied to elements");
      operands.push_back(value);
    }
    Value result;
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
      result = emitConstant(builder, constant);
    } else if (isIdentityAtRankZero(&op) && operands.size() == 1) {
      result = operands[0];
    } else {
      result = emitScalarOp(builder, op.getLoc(), &op, operands);
    }
    if (!result)
      return op.emitError("operation '")
             << op.getName() << "' has no lowering in a function applied to elements";
    values.map(op.getResult(0), result);
  }
  for (Value operand : body.getTerminator()->getOperands()) {
    Value value = held(operand);
    if (!value)
      return body.getTerminator()->emitError("returns a value from outside of its region");
    results.push_back(value);
  }
  return success();
}

} // namespace nocturne::compiler
