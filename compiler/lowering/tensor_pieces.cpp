#include "compiler/lowering/tensor_pieces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

#include "compiler/lowering/scalars.h"
#include "compiler/lowering/types.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// What scalar emitters see instead of a float narrower than f32.
Type widened(Type element) {
  return isa<FloatType>(element) ? computeType(element) : element;
}

ArrayRef<int64_t> shapeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

SmallVector<OpFoldResult> indexAttrs(OpBuilder& builder, ArrayRef<int64_t> numbers) {
  return getAsIndexOpFoldResult(builder.getContext(), numbers);
}

} // namespace

Type elementTypeOf(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? shaped.getElementType() : type;
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

Value mapElements(OpBuilder& builder, Location loc, ValueRange operands, Type resultElement,
                  ElementEmitter emit) {
  ArrayRef<int64_t> shape = shapeOf(operands[0]);
  Value empty = tensor::EmptyOp::create(builder, loc, shape, resultElement);
  SmallVector<AffineMap> maps(operands.size() + 1,
                              builder.getMultiDimIdentityMap(static_cast<unsigned>(shape.size())));
  SmallVector<utils::IteratorType> iterators(shape.size(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, empty.getType(), operands, empty, maps, iterators,
      [&](OpBuilder& inner, Location innerLoc, ValueRange arguments) {
        Value result = emit(inner, arguments.drop_back());
        linalg::YieldOp::create(inner, innerLoc, result ? result : arguments.back());
      });
  return generic.getResult(0);
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
  Value result = mapElements(builder, loc, tensor, storageType(to),
                             [&](OpBuilder& inner, ValueRange elements) {
                               Value element = convertScalar(inner, loc, op, from, to, elements[0]);
                               known = static_cast<bool>(element);
                               return element;
                             });
  return known ? result : Value();
}

Value reshaped(OpBuilder& builder, Location loc, Value tensor, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getShape() == shape)
    return tensor;
  auto target = RankedTensorType::get(shape, type.getElementType());
  if (type.getRank() != target.getRank())
    if (auto groups = getReassociationIndicesForReshape(type, target)) {
      if (type.getRank() > target.getRank())
        return tensor::CollapseShapeOp::create(builder, loc, target, tensor, *groups);
      return tensor::ExpandShapeOp::create(builder, loc, target, tensor, *groups);
    }
  // Neither shape refines the other: through one dimension.
  auto flat = RankedTensorType::get({type.getNumElements()}, type.getElementType());
  auto all = [](int64_t rank) {
    return SmallVector<ReassociationIndices>{llvm::to_vector<2>(llvm::seq<int64_t>(0, rank))};
  };
  if (type.getRank() != 1)
    tensor = type.getRank() == 0
                 ? Value(tensor::ExpandShapeOp::create(builder, loc, flat, tensor,
                                                       ArrayRef<ReassociationIndices>{}))
                 : Value(tensor::CollapseShapeOp::create(builder, loc, flat, tensor,
                                                         all(type.getRank())));
  if (target.getRank() == 1)
    return tensor;
  if (target.getRank() == 0)
    return tensor::CollapseShapeOp::create(builder, loc, target, tensor,
                                           ArrayRef<ReassociationIndices>{});
  return tensor::ExpandShapeOp::create(builder, loc, target, tensor, all(target.getRank()));
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

} // namespace nocturne::compiler
