#include "compiler/lowering/tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "llvm/ADT/STLExtras.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

using Groups = SmallVector<ReassociationIndices>;

// Splits both shapes, which have no zeros and as many elements as each other, into as many runs of
// dimensions as possible so that runs at the same place have the same product.
void groupDimensions(ArrayRef<int64_t> from, ArrayRef<int64_t> to, Groups& fromGroups,
                     Groups& toGroups, SmallVectorImpl<int64_t>& between) {
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    ReassociationIndices left{int64_t(i)}, right{int64_t(j)};
    int64_t leftProduct = from[i++], rightProduct = to[j++];
    while (leftProduct != rightProduct) {
      if (leftProduct < rightProduct) {
        left.push_back(int64_t(i));
        leftProduct *= from[i++];
      } else {
        right.push_back(int64_t(j));
        rightProduct *= to[j++];
      }
    }
    fromGroups.push_back(left);
    toGroups.push_back(right);
    between.push_back(leftProduct);
  }
  // What is left on either side are ones.
  for (; i < from.size(); ++i)
    fromGroups.back().push_back(int64_t(i));
  for (; j < to.size(); ++j)
    toGroups.back().push_back(int64_t(j));
}

} // namespace

Value emptyTensor(OpBuilder& builder, Location loc, RankedTensorType type) {
  return tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
}

Value filledTensor(OpBuilder& builder, Location loc, RankedTensorType type, Value scalar) {
  return linalg::FillOp::create(builder, loc, scalar, emptyTensor(builder, loc, type)).getResult(0);
}

Value scalarOf(OpBuilder& builder, Location loc, Value tensor) {
  return tensor::ExtractOp::create(builder, loc, tensor, ValueRange{});
}

Value clampedIndex(OpBuilder& builder, Location loc, Value scalar, bool noSign, int64_t most) {
  if (most == 0)
    return arith::ConstantIndexOp::create(builder, loc, 0);
  Type index = builder.getIndexType();
  Value cast = scalar;
  if (scalar.getType() != index)
    cast = noSign ? Value(arith::IndexCastUIOp::create(builder, loc, index, scalar))
                  : Value(arith::IndexCastOp::create(builder, loc, index, scalar));
  Value bound = arith::ConstantIndexOp::create(builder, loc, most);
  // Unsigned 64-bit numbers may look negative by now.
  if (noSign)
    return arith::MinUIOp::create(builder, loc, cast, bound);
  Value raised =
      arith::MaxSIOp::create(builder, loc, cast, arith::ConstantIndexOp::create(builder, loc, 0));
  return arith::MinSIOp::create(builder, loc, raised, bound);
}

Value reshapeTensor(OpBuilder& builder, Location loc, Value tensor, RankedTensorType type) {
  auto from = cast<RankedTensorType>(tensor.getType());
  if (from.getShape() == type.getShape())
    return tensor;
  if (llvm::is_contained(type.getShape(), 0))
    return emptyTensor(builder, loc, type);
  // To and from a single element.
  if (type.getRank() == 0)
    return tensor::CollapseShapeOp::create(builder, loc, type, tensor, Groups{});
  if (from.getRank() == 0)
    return tensor::ExpandShapeOp::create(builder, loc, type, tensor, Groups{});
  Groups fromGroups, toGroups;
  SmallVector<int64_t> between;
  groupDimensions(from.getShape(), type.getShape(), fromGroups, toGroups, between);
  auto middle = RankedTensorType::get(between, type.getElementType());
  if (middle != from)
    tensor = tensor::CollapseShapeOp::create(builder, loc, middle, tensor, fromGroups);
  if (middle != type)
    tensor = tensor::ExpandShapeOp::create(builder, loc, type, tensor, toGroups);
  return tensor;
}

Value elementwiseTensor(OpBuilder& builder, Location loc, RankedTensorType type, ValueRange inputs,
                        ArrayRef<AffineMap> maps,
                        function_ref<Value(OpBuilder&, Location, ValueRange)> body) {
  SmallVector<AffineMap> allMaps(maps);
  auto rank = static_cast<unsigned>(type.getRank());
  allMaps.push_back(builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange{type}, inputs, ValueRange{emptyTensor(builder, loc, type)}, allMaps,
      loops, [&](OpBuilder& inner, Location place, ValueRange elements) {
        linalg::YieldOp::create(inner, place, body(inner, place, elements));
      });
  return generic.getResult(0);
}

RankedTensorType heldResultType(const TypeConverter& types, Operation* op, unsigned index) {
  auto type = dyn_cast_or_null<RankedTensorType>(types.convertType(op->getResult(index).getType()));
  if (!type)
    op->emitError("result of type ")
        << op->getResult(index).getType() << " has no lowering, as its shape is not known";
  return type;
}

} // namespace nocturne::compiler
