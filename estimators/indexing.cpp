// Gather and scatter: charged by what they touch, not by the size of the table.
#include "estimators/rules.h"

namespace nocturne {

namespace {

// Indices are read; what they select is read and written.
Work gatherWork(const OpInfo& op) {
  Work work;
  work.bytes = operandOf(op, 1).bytes() + 2 * op.resultBytes();
  return work;
}

// Operands: n inputs, indices, n updates. Indices and updates are read. The places they touch are
// written, and read before when the updates are combined with what is there.
Work scatterWork(const OpInfo& op) {
  Work work;
  size_t inputs = op.operands.size() / 2;
  double body = bodyFlops(op, 0);
  work.bytes = operandOf(op, inputs).bytes();
  for (size_t i = inputs + 1; i < op.operands.size(); ++i)
    work.bytes += op.operands[i].bytes() * (body > 0 ? 3 : 2);
  work.flops = operandOf(op, inputs + 1).elementCount() * body;
  work.type = workType(op);
  return work;
}

} // namespace

void addIndexingRules(RuleSink& sink) {
  sink.add<gatherWork>(
      {"stablehlo.gather", "stablehlo.dynamic_gather", "stablehlo.torch_index_select"});
  sink.add<scatterWork>({"stablehlo.scatter"});
}

} // namespace nocturne
