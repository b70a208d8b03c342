// Reductions and sorting. The operations of a reducer are counted as part of the reduction.
#include <algorithm>

#include "estimators/rules.h"

namespace nocturne {

namespace {

// n inputs that become one value take n - 1 applications of the reducer; the initial value is its
// neutral element. A variadic reduction reads all operands.
Work reduceWork(const OpInfo& op) {
  Work work = moveWork(op);
  double inputs = operandOf(op, 0).elementCount(), outputs = resultOf(op, 0).elementCount();
  work.flops = std::max(0.0, inputs - outputs) * bodyFlops(op, 1);
  work.type = workType(op);
  return work;
}

// (output position, window position) pairs that meet an input element.
double windowPairs(const TensorType& input, const TensorType& output,
                   const WindowAttributes& window) {
  double pairs = 1;
  for (size_t i = 0; i < output.dims.size(); ++i) {
    auto dimension = static_cast<int64_t>(i);
    pairs *= usefulTaps(extent(input, dimension), extent(output, dimension), window, i);
  }
  return pairs;
}

// Without a window each input element is taken to be met once.
Work reduceWindowWork(const OpInfo& op) {
  Work work = moveWork(op);
  const TensorType &input = operandOf(op, 0), &output = resultOf(op, 0);
  const auto* reduction = op.get<WindowReductionAttributes>();
  double pairs =
      reduction == nullptr ? input.elementCount() : windowPairs(input, output, reduction->window);
  work.flops = std::max(0.0, pairs - output.elementCount()) * bodyFlops(op, 1);
  work.type = workType(op);
  return work;
}

// Each source element selects among its window of the operand (one comparison less than there are
// candidates), then is scattered with one operation.
Work selectAndScatterWork(const OpInfo& op) {
  Work work = moveWork(op);
  const TensorType& source = operandOf(op, 1);
  double sources = source.elementCount();
  if (const auto* reduction = op.get<WindowReductionAttributes>())
    work.flops = std::max(sources, windowPairs(operandOf(op, 0), source, reduction->window));
  work.type = workType(op);
  return work;
}

// Rows that fit on the chip are read and written once; longer ones once per byte of the key, as a
// radix sort does. Payloads move with the keys. Comparisons: n ceil(log2 n) per row.
Work sortWork(const OpInfo& op) {
  constexpr double kRowOnChip = 2048;
  Work work;
  const TensorType& keys = operandOf(op, 0);
  const auto* attributes = op.get<DimensionsAttributes>();
  double length = attributes != nullptr && !attributes->dims.empty()
                      ? extent(keys, attributes->dims.front())
                      : extentFromEnd(keys, 0);
  double passes = length <= kRowOnChip ? 1 : std::max(1U, storageBits(keys.element.kind) / 8);
  work.bytes = (op.operandBytes() + op.resultBytes()) * passes;
  work.flops = keys.elementCount() * ceilLog2(length) * bodyFlops(op, 1);
  work.type = workType(op);
  return work;
}

} // namespace

// Every element is compared once with the smallest of the best so far.
Work topKWork(const OpInfo& op) {
  Work work = moveWork(op);
  work.flops = operandOf(op, 0).elementCount();
  work.type = workType(op);
  return work;
}

void addReductionRules(RuleSink& sink) {
  sink.add<reduceWork>({"stablehlo.reduce"});
  sink.add<reduceWindowWork>({"stablehlo.reduce_window"});
  sink.add<selectAndScatterWork>({"stablehlo.select_and_scatter"});
  sink.add<sortWork>({"stablehlo.sort"});
  sink.add<topKWork>({"chlo.top_k", "mhlo.topk"});
}

} // namespace nocturne
