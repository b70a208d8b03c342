#include "compiler/lowering/tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/STLExtras.h"

#include "compiler/lowering/scalars.h"

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

Value reshaped(OpBuilder& builder, Location loc, Value tensor, ArrayRef<int64_t> shape) {
  auto from = cast<RankedTensorType>(tensor.getType());
  if (from.getShape() == shape)
    return tensor;
  RankedTensorType type = from.clone(shape);
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
        Value element = body(inner, place, elements);
        linalg::YieldOp::create(inner, place, element ? element : elements.back());
      });
  return generic.getResult(0);
}

Type elementTypeOf(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? shaped.getElementType() : type;
}

ArrayRef<int64_t> shapeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

SmallVector<OpFoldResult> indexAttrs(OpBuilder& builder, ArrayRef<int64_t> numbers) {
  return getAsIndexOpFoldResult(builder.getContext(), numbers);
}

Value firstPart(OpBuilder& builder, Location loc, Value tensor, ArrayRef<int64_t> sizes) {
  const SmallVector<int64_t> zeros(sizes.size(), 0), ones(sizes.size(), 1);
  return tensor::ExtractSliceOp::create(builder, loc, tensor, indexAttrs(builder, zeros),
                                        indexAttrs(builder, sizes), indexAttrs(builder, ones));
}

Value zeroOf(OpBuilder& builder, Location loc, Type held) {
  if (auto complex = dyn_cast<ComplexType>(held)) {
    Attribute part = builder.getZeroAttr(complex.getElementType());
    return complex::ConstantOp::create(builder, loc, complex, builder.getArrayAttr({part, part}));
  }
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(held));
}

Value oneOf(OpBuilder& builder, Location loc, Type held) {
  if (auto complex = dyn_cast<ComplexType>(held)) {
    Type part = complex.getElementType();
    auto parts = builder.getArrayAttr({builder.getOneAttr(part), builder.getZeroAttr(part)});
    return complex::ConstantOp::create(builder, loc, complex, parts);
  }
  return arith::ConstantOp::create(builder, loc, builder.getOneAttr(held));
}

Value filled(OpBuilder& builder, Location loc, ArrayRef<int64_t> shape, Value scalar) {
  Value empty = tensor::EmptyOp::create(builder, loc, shape, scalar.getType());
  return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
}

Value mapElements(OpBuilder& builder, Location loc, ArrayRef<int64_t> shape, Type element,
                  ValueRange inputs, ElementEmitter emit) {
  AffineMap identity = builder.getMultiDimIdentityMap(static_cast<unsigned>(shape.size()));
  SmallVector<AffineMap> maps(inputs.size(), identity);
  return elementwiseTensor(builder, loc, RankedTensorType::get(shape, element), inputs, maps,
                           [&](OpBuilder& inner, Location, ValueRange elements) {
                             return emit(inner, elements.drop_back());
                           });
}

Value convertScalar(OpBuilder& builder, Location loc, Operation* op, Type from, Type to,
                    Value held) {
  if (from == to)
    return held;
  Value computed = decode(builder, loc, from, held);
  if (widened(from) != widened(to)) {
    ScalarEmitter convert = scalarTable().find("stablehlo.convert");
    if (!convert)
      return {};
    computed = convert(builder, loc, ScalarCall{op, {widened(from)}, widened(to), computed});
    if (!computed)
      return {};
  }
  return encode(builder, loc, to, computed);
}

Value convertTensor(OpBuilder& builder, Location loc, Operation* op, Type from, Type to,
                    Value tensor) {
  if (from == to)
    return tensor;
  bool known = true;
  Value result = mapElements(builder, loc, shapeOf(tensor), storageType(to), tensor,
                             [&](OpBuilder& inner, ValueRange elements) {
                               Value element = convertScalar(inner, loc, op, from, to, elements[0]);
                               known = static_cast<bool>(element);
                               return element;
                             });
  return known ? result : Value();
}

Value padded(OpBuilder& builder, Location loc, Value tensor, ArrayRef<PadDim> dims, Value scalar) {
  SmallVector<int64_t> whole, inner, offsets, strides;
  // Where padding is negative, the tensor is put into a larger one that is then cut.
  SmallVector<int64_t> cutOffsets, cutSizes;
  bool pads = false, cuts = false;
  for (auto [size, dim] : llvm::zip(shapeOf(tensor), dims)) {
    const int64_t low = std::max<int64_t>(dim.low, 0), high = std::max<int64_t>(dim.high, 0);
    whole.push_back(PadDim{low, high, dim.interior}.paddedSize(size));
    inner.push_back(size);
    offsets.push_back(low);
    strides.push_back(dim.interior + 1);
    cutOffsets.push_back(low - dim.low);
    cutSizes.push_back(std::max<int64_t>(dim.paddedSize(size), 0));
    pads |= whole.back() != size;
    cuts |= whole.back() != cutSizes.back();
  }
  SmallVector<int64_t> ones(dims.size(), 1);
  if (llvm::is_contained(cutSizes, 0))
    return filled(builder, loc, cutSizes, scalar);
  if (pads) {
    Value frame = filled(builder, loc, whole, scalar);
    if (!llvm::is_contained(inner, 0))
      frame =
          tensor::InsertSliceOp::create(builder, loc, tensor, frame, indexAttrs(builder, offsets),
                                        indexAttrs(builder, inner), indexAttrs(builder, strides));
    tensor = frame;
  }
  if (cuts)
    tensor =
        tensor::ExtractSliceOp::create(builder, loc, tensor, indexAttrs(builder, cutOffsets),
                                       indexAttrs(builder, cutSizes), indexAttrs(builder, ones));
  return tensor;
}

RankedTensorType heldResultType(const TypeConverter& types, Operation* op, unsigned index) {
  auto type = dyn_cast_or_null<RankedTensorType>(types.convertType(op->getResult(index).getType()));
  if (!type)
    op->emitError("result of type ")
        << op->getResult(index).getType() << " has no lowering, as its shape is not known";
  return type;
}

} // namespace nocturne::compiler
