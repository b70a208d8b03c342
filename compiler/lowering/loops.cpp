#include "compiler/lowering/loops.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

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

} // namespace nocturne::compiler
