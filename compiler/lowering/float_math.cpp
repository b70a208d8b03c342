#include "compiler/lowering/float_math.h"

#include <limits>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

Value convert(OpBuilder& builder, Location loc, Value value, Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (from < to)
    return arith::ExtFOp::create(builder, loc, type, value);
  if (from > to)
    return arith::TruncFOp::create(builder, loc, type, value);
  return value;
}

} // namespace

Value FloatMath::constant(double value) const {
  return arith::ConstantOp::create(builder_, loc_, FloatAttr::get(type_, value));
}

Value FloatMath::infinity() const {
  return constant(std::numeric_limits<double>::infinity());
}

Value FloatMath::nan() const {
  return constant(std::numeric_limits<double>::quiet_NaN());
}

Value FloatMath::add(Value a, Value b) const {
  return arith::AddFOp::create(builder_, loc_, a, b);
}

Value FloatMath::sub(Value a, Value b) const {
  return arith::SubFOp::create(builder_, loc_, a, b);
}

Value FloatMath::mul(Value a, Value b) const {
  return arith::MulFOp::create(builder_, loc_, a, b);
}

Value FloatMath::div(Value a, Value b) const {
  return arith::DivFOp::create(builder_, loc_, a, b);
}

Value FloatMath::neg(Value a) const {
  return arith::NegFOp::create(builder_, loc_, a);
}

Value FloatMath::fma(Value a, Value b, Value c) const {
  return math::FmaOp::create(builder_, loc_, a, b, c);
}

Value FloatMath::compare(arith::CmpFPredicate predicate, Value a, Value b) const {
  return arith::CmpFOp::create(builder_, loc_, predicate, a, b);
}

Value FloatMath::less(Value a, Value b) const {
  return compare(arith::CmpFPredicate::OLT, a, b);
}

Value FloatMath::equal(Value a, Value b) const {
  return compare(arith::CmpFPredicate::OEQ, a, b);
}

Value FloatMath::isNan(Value a) const {
  return compare(arith::CmpFPredicate::UNO, a, a);
}

Value FloatMath::isInf(Value a) const {
  return equal(math::AbsFOp::create(builder_, loc_, a), infinity());
}

Value FloatMath::isFinite(Value a) const {
  return less(math::AbsFOp::create(builder_, loc_, a), infinity());
}

Value FloatMath::both(Value a, Value b) const {
  return arith::AndIOp::create(builder_, loc_, a, b);
}

Value FloatMath::either(Value a, Value b) const {
  return arith::OrIOp::create(builder_, loc_, a, b);
}

Value FloatMath::negated(Value a) const {
  Value one = arith::ConstantOp::create(builder_, loc_, builder_.getBoolAttr(true));
  return arith::XOrIOp::create(builder_, loc_, a, one);
}

Value FloatMath::select(Value condition, Value a, Value b) const {
  return arith::SelectOp::create(builder_, loc_, condition, a, b);
}

Value FloatMath::polynomial(Value x, ArrayRef<double> coefficients) const {
  Value sum = constant(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = fma(sum, x, constant(coefficient));
  return sum;
}

SmallVector<Value, 2> FloatMath::libm(StringRef name, ValueRange arguments,
                                      unsigned results) const {
  auto module = origin_->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(module.getBody());
    auto type = builder_.getFunctionType(arguments.getTypes(), SmallVector<Type>(results, type_));
    func::FuncOp::create(builder_, module.getLoc(), name, type).setPrivate();
  }
  SmallVector<Type> types(results, type_);
  auto call = func::CallOp::create(builder_, loc_, name, types, arguments);
  return SmallVector<Value, 2>(call.getResults());
}

Value FloatMath::enter(Value value) const {
  return convert(builder_, loc_, value, type_);
}

Value FloatMath::leave(Value value, Type type) const {
  return convert(builder_, loc_, value, type);
}

} // namespace nocturne::compiler
