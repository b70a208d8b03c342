#include "compiler/dialect/AttrHelpers.h"

#include "compiler/dialect/StablehloDialect.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"

using namespace mlir;

namespace nocturne::stablehlo {

static bool isDenseInteger(Attribute attr) {
  auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attr);
  return elements && !elements.getElementType().isInteger(1);
}

bool isI64List(Attribute attr) {
  if (isa_and_nonnull<DenseI64ArrayAttr, DenseI32ArrayAttr>(attr))
    return true;
  return isDenseInteger(attr) && cast<DenseIntElementsAttr>(attr).getType().getRank() == 1;
}

bool isI64Matrix(Attribute attr) {
  return isDenseInteger(attr);
}

bool isBoolList(Attribute attr) {
  if (isa_and_nonnull<DenseBoolArrayAttr>(attr))
    return true;
  auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attr);
  return elements && elements.getElementType().isInteger(1);
}

bool isFlag(Attribute attr) {
  return isa_and_nonnull<UnitAttr, BoolAttr>(attr);
}

bool isReplicaGroups(Attribute attr) {
  return isDenseInteger(attr) || isa_and_nonnull<ReplicaGroupMeshAxesAttr, OpaqueAttr>(attr);
}

SmallVector<int64_t> readI64List(Attribute attr) {
  SmallVector<int64_t> values;
  if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(attr)) {
    llvm::append_range(values, array.asArrayRef());
  } else if (auto narrow = dyn_cast_or_null<DenseI32ArrayAttr>(attr)) {
    llvm::append_range(values, narrow.asArrayRef());
  } else if (auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attr)) {
    values.reserve(static_cast<size_t>(elements.getNumElements()));
    for (const APInt& value : elements.getValues<APInt>())
      values.push_back(value.getSExtValue());
  }
  return values;
}

SmallVector<int64_t> readI64ListOr(Attribute attr, size_t count, int64_t value) {
  return attr ? readI64List(attr) : SmallVector<int64_t>(count, value);
}

SmallVector<bool> readBoolList(Attribute attr) {
  SmallVector<bool> values;
  if (auto array = dyn_cast_or_null<DenseBoolArrayAttr>(attr))
    llvm::append_range(values, array.asArrayRef());
  else if (auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attr))
    for (const APInt& value : elements.getValues<APInt>())
      values.push_back(!value.isZero());
  return values;
}

bool isFlagSet(Attribute attr) {
  if (auto flag = dyn_cast_or_null<BoolAttr>(attr))
    return flag.getValue();
  return isa_and_nonnull<UnitAttr>(attr);
}

bool isBoolean(Type element) {
  return element.isInteger(1);
}

bool isIntegral(Type element) {
  return isa<IntegerType>(element);
}

bool isIntegralOrIndex(Type element) {
  return isa<IntegerType, IndexType>(element);
}

bool isFloatLike(Type element) {
  // A type of a dialect that is only kept as text may be anything, so it is let pass.
  return isa<FloatType, quant::QuantizedType, OpaqueType>(element);
}

bool isFloatOrComplex(Type element) {
  return isFloatLike(element) || isComplex(element);
}

bool isComplex(Type element) {
  return isa<ComplexType>(element);
}

bool isQuantized(Type element) {
  return isa<quant::QuantizedType>(element);
}

} // namespace nocturne::stablehlo
