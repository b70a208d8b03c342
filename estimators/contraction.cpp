// Products of matrices: two operations per multiply-add, at the rate of the operands' type.
#include "estimators/rules.h"

namespace nocturne {

namespace {

Work contraction(const OpInfo& op, double multiplyAdds) {
  Work work = moveWork(op);
  work.flops = 2 * complexFactor(operandOf(op, 0)) * multiplyAdds;
  work.type = operandType(operandOf(op, 0), operandOf(op, 1));
  const auto* dot = op.get<DotAttributes>();
  work.reducedPrecision = dot == nullptr || !wantsFullPrecision(dot->precision);
  return work;
}

// Without dimension numbers: the shared extent follows from the sizes, since the operands have
// B*M*K and B*K*N elements and the result B*M*N. `batch` is B.
double sharedExtent(const OpInfo& op, double batch) {
  double result = resultOf(op, 0).elementCount() * batch;
  double product = operandOf(op, 0).elementCount() * operandOf(op, 1).elementCount();
  return result == 0 ? 0 : wholeRoot(product / result);
}

Work einsumWork(const OpInfo& op) {
  if (op.get<DotAttributes>() != nullptr)
    return dotWork(op);
  return contraction(op, resultOf(op, 0).elementCount() * sharedExtent(op, 1));
}

} // namespace

Work dotWork(const OpInfo& op) {
  const auto* dot = op.get<DotAttributes>();
  double shared = 1;
  if (dot != nullptr)
    for (int64_t dimension : dot->lhsContracting)
      shared *= extent(operandOf(op, 0), dimension);
  else
    shared = extentFromEnd(operandOf(op, 0), 0);
  return contraction(op, resultOf(op, 0).elementCount() * shared);
}

// Rows of the left operand are split into groups, each with a matrix of its own: every row meets
// one matrix, so the number of groups does not multiply the work.
//   [.. m, k] x [g, k, n] -> [.. m, n]: m*k*n per batch.
//   [.. m, k] x [.. k, n] -> [g, .. m, n], ragged k: each k belongs to one group, so m*k*n.
//   [b, m, k] x [b, k, n] -> [b, m, n], ragged batch: as a batched product.
Work raggedDotWork(const OpInfo& op) {
  double left = operandOf(op, 0).elementCount();
  double columns = extentFromEnd(resultOf(op, 0), 0);
  return contraction(op, left * columns);
}

// The library's matrix product: the leading dimensions of the result are the batch. Of several
// results all but the first are scratch memory.
Work gemmWork(const OpInfo& op) {
  const TensorType& result = resultOf(op, 0);
  double batch = 1;
  for (size_t fromEnd = 2; fromEnd < result.dims.size(); ++fromEnd)
    batch *= extentFromEnd(result, fromEnd);
  Work work = contraction(op, result.elementCount() * sharedExtent(op, batch));
  work.bytes = op.operandBytes() + result.bytes();
  return work;
}

void addContractionRules(RuleSink& sink) {
  sink.add<dotWork>({"stablehlo.dot_general", "stablehlo.dot"});
  sink.add<einsumWork>({"stablehlo.einsum"});
  sink.add<moveWork>({"stablehlo.unary_einsum"});
  sink.add<raggedDotWork>({"mhlo.ragged_dot", "chlo.ragged_dot"});
}

} // namespace nocturne
