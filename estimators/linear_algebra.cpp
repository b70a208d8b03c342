// Factorisations, Fourier transforms and random numbers.
#include <algorithm>

#include "estimators/rules.h"

namespace nocturne {

namespace {

// 5 N log2 N for a complex transform of length N, half of it for a real one; log2 is rounded up.
Work fftWork(const OpInfo& op) {
  Work work = moveWork(op);
  const TensorType &input = operandOf(op, 0), &output = resultOf(op, 0);
  double length = 1;
  if (const auto* attributes = op.get<DimensionsAttributes>())
    for (int64_t size : attributes->dims)
      length *= static_cast<double>(size);
  else
    length = extentFromEnd(input, 0);
  bool realInput = !isComplex(input.element.kind), realOutput = !isComplex(output.element.kind);
  double elements = realOutput ? output.elementCount() : input.elementCount();
  work.flops = elements * ceilLog2(length) * 5 / (realInput || realOutput ? 2 : 1);
  work.type = workType(op);
  return work;
}

} // namespace

// n^3 / 3 per matrix.
Work choleskyWork(const OpInfo& op) {
  Work work = moveWork(op);
  const TensorType& matrix = operandOf(op, 0);
  double size = extentFromEnd(matrix, 0);
  work.flops = matrix.elementCount() * size / 3 * complexFactor(matrix);
  work.type = workType(op);
  return work;
}

// n^2 per right-hand side, of which there are elements(b) / n.
Work triangularSolveWork(const OpInfo& op) {
  Work work = moveWork(op);
  const TensorType &matrix = operandOf(op, 0), &right = operandOf(op, 1);
  work.flops = right.elementCount() * extentFromEnd(matrix, 0) * complexFactor(matrix);
  work.type = workType(op);
  return work;
}

// ThreeFry-2x32: 20 rounds of add, two shifts, or and xor, and 5 key injections of 3 additions,
// make two 32-bit words: 115 operations, 57.5 for each word.
Work randomBitsWork(const OpInfo& op) {
  constexpr double kPerWord = 57.5;
  Work work = moveWork(op);
  const TensorType& bits = op.results.empty() ? operandOf(op, 0) : op.results.back();
  double words = bits.elementCount() * std::max(32U, storageBits(bits.element.kind)) / 32;
  work.flops = words * kPerWord;
  work.type = ElementKind::UI32;
  return work;
}

void addLinearAlgebraRules(RuleSink& sink) {
  sink.add<choleskyWork>({"stablehlo.cholesky"});
  sink.add<triangularSolveWork>({"stablehlo.triangular_solve"});
  sink.add<fftWork>({"stablehlo.fft"});
  sink.add<randomBitsWork>(
      {"stablehlo.rng", "stablehlo.rng_bit_generator", "mhlo.xla.rng_get_and_update_state"});
}

} // namespace nocturne
