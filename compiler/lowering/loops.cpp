#include "compiler/lowering/loops.h"

namespace nocturne::compiler {

using namespace mlir;

Values emitFor(OpBuilder& builder, Location loc, Value lower, Value upper, Value step,
               ValueRange carried, LoopBody body) {
  auto loop =
      scf::ForOp::create(builder, loc, lower, upper, step, carried,
                         [&](OpBuilder& inner, Location where, Value index, ValueRange values) {
                           scf::YieldOp::create(inner, where, body(inner, index, values));
                         });
  return Values(loop.getResults());
}

Values emitNest(OpBuilder& builder, Location loc, ArrayRef<int64_t> extents, ValueRange carried,
                NestBody body) {
  if (extents.empty())
    return body(builder, {}, carried);
  Value zero = indexConstant(builder, loc, 0), one = indexConstant(builder, loc, 1);
  Values upper;
  for (int64_t extent : extents)
    upper.push_back(indexConstant(builder, loc, extent));
  SmallVector<Value> lower(extents.size(), zero), steps(extents.size(), one);
  scf::LoopNest nest =
      scf::buildLoopNest(builder, loc, lower, upper, steps, carried,
                         [&](OpBuilder& inner, Location, ValueRange indices, ValueRange values) {
                           return body(inner, indices, values);
                         });
  return Values(nest.results);
}

Value emitElementwise(OpBuilder& builder, Location loc, ArrayRef<int64_t> shape, Type element,
                      ValueRange inputs, ElementBody body) {
  Value init = tensor::EmptyOp::create(builder, loc, shape, element);
  unsigned rank = shape.size();
  SmallVector<AffineMap> maps(inputs.size() + 1, builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange{init.getType()}, inputs, ValueRange{init}, maps, iterators,
      [&](OpBuilder& inner, Location where, ValueRange elements) {
        linalg::YieldOp::create(inner, where, body(inner, elements.drop_back()));
      });
  return generic.getResult(0);
}

Value emitReshape(OpBuilder& builder, Location loc, Value tensor, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getShape() == shape)
    return tensor;
  auto target = RankedTensorType::get(shape, type.getElementType());
  // One step where the dimensions of one side group into those of the other; else by way of one
  // dimension.
  if (auto groups = getReassociationIndicesForReshape(type, target)) {
    if (target.getRank() < type.getRank())
      return tensor::CollapseShapeOp::create(builder, loc, target, tensor, *groups);
    if (target.getRank() > type.getRank())
      return tensor::ExpandShapeOp::create(builder, loc, target, tensor, *groups);
  }
  auto all = [](int64_t rank) {
    SmallVector<ReassociationIndices> groups;
    if (rank > 0)
      groups.emplace_back(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
    return groups;
  };
  auto flat = RankedTensorType::get({type.getNumElements()}, type.getElementType());
  Value line = tensor;
  if (type.getRank() != 1)
    line = type.getRank() == 0
               ? Value(tensor::ExpandShapeOp::create(builder, loc, flat, tensor, all(0)))
               : Value(tensor::CollapseShapeOp::create(builder, loc, flat, tensor,
                                                       all(type.getRank())));
  if (target.getRank() == 1)
    return line;
  if (target.getRank() == 0)
    return tensor::CollapseShapeOp::create(builder, loc, target, line, all(0));
  return tensor::ExpandShapeOp::create(builder, loc, target, line, all(target.getRank()));
}

} // namespace nocturne::compiler
