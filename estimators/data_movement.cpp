// Operations that move or make values without arithmetic.
#include "estimators/rules.h"

namespace nocturne {

namespace {

// Only the part that becomes the result is read; scalar start indices are read as well.
Work sliceWork(const OpInfo& op) {
  Work work;
  work.bytes = 2 * op.resultBytes();
  for (size_t i = 1; i < op.operands.size(); ++i)
    work.bytes += op.operands[i].bytes();
  return work;
}

// In place: the update is read and written, the rest of the operand stays where it is.
Work updateSliceWork(const OpInfo& op) {
  Work work;
  work.bytes = 2 * operandOf(op, 1).bytes();
  for (size_t i = 2; i < op.operands.size(); ++i)
    work.bytes += op.operands[i].bytes();
  return work;
}

Work writeWork(const OpInfo& op) {
  Work work;
  work.bytes = op.resultBytes();
  return work;
}

Work readWork(const OpInfo& op) {
  Work work;
  work.bytes = op.operandBytes();
  return work;
}

// The operand moves; operands that only give a shape do not.
Work moveFirstWork(const OpInfo& op) {
  Work work;
  work.bytes = operandOf(op, 0).bytes() + op.resultBytes();
  return work;
}

// The same bits under another type, unless the number of bytes changes.
Work bitcastConvertWork(const OpInfo& op) {
  return op.operandBytes() == op.resultBytes() ? Work{} : moveWork(op);
}

} // namespace

void addDataMovementRules(RuleSink& sink) {
  sink.add<moveWork>({"stablehlo.broadcast", "stablehlo.broadcast_in_dim", "stablehlo.complex",
                      "stablehlo.concatenate", "stablehlo.imag", "stablehlo.pad", "stablehlo.real",
                      "stablehlo.reverse", "stablehlo.transpose", "mhlo.copy",
                      "chlo.broadcast_complex"});
  sink.add<moveFirstWork>(
      {"stablehlo.dynamic_broadcast_in_dim", "stablehlo.dynamic_pad", "tensor.pad"});
  // Early MHLO spelled two names with hyphens.
  sink.add<sliceWork>({"mhlo.dynamic-slice", "stablehlo.slice", "stablehlo.dynamic_slice",
                       "stablehlo.real_dynamic_slice", "tensor.extract_slice", "sdy.all_slice"});
  sink.add<updateSliceWork>(
      {"mhlo.dynamic-update-slice", "stablehlo.dynamic_update_slice", "tensor.insert_slice"});
  sink.add<writeWork>({"stablehlo.iota", "stablehlo.dynamic_iota", "stablehlo.infeed",
                       "chlo.constant_like", "tensor.splat"});
  sink.add<readWork>({"stablehlo.outfeed", "ml_program.global_store"});
  sink.add<bitcastConvertWork>({"stablehlo.bitcast_convert"});
}

} // namespace nocturne
