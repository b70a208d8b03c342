// Convolutions: two operations per multiply-add of a kernel tap with an element of the input. Taps
// on padding or on holes made by dilation are not counted.
#include "estimators/rules.h"

namespace nocturne {

namespace {

// Products of one output element's input features with one kernel position, summed over everything.
double multiplyAdds(const OpInfo& op, const ConvolutionAttributes& conv) {
  const TensorType &input = operandOf(op, 0), &kernel = operandOf(op, 1), &output = resultOf(op, 0);
  // With batch groups each output feature sees one group of the batch, and the output's batch is
  // that of a group; with feature groups the kernel's input features are those of a group.
  double out = extent(output, conv.outBatch) * extent(output, conv.outFeature) *
               extent(kernel, conv.rhsInputFeature);
  for (size_t i = 0; i < conv.outSpatial.size() && i < conv.lhsSpatial.size(); ++i)
    out *= usefulTaps(extent(input, conv.lhsSpatial[i]), extent(output, conv.outSpatial[i]),
                      conv.window, i);
  return out;
}

// The extent that both the kernel and the output-side tensor have as their feature dimension: the
// last (channels last) or the second (channels first).
double sharedFeatures(const TensorType& outputSide, const TensorType& kernel) {
  double last = extentFromEnd(outputSide, 0), second = extent(outputSide, 1);
  for (int64_t size : kernel.dims)
    if (static_cast<double>(size) == last)
      return last;
  for (int64_t size : kernel.dims)
    if (static_cast<double>(size) == second)
      return second;
  return 1;
}

} // namespace

Work convolutionWork(const OpInfo& op) {
  Work work = moveWork(op);
  const auto* conv = op.get<ConvolutionAttributes>();
  if (conv == nullptr)
    return libraryConvolutionWork(op);
  work.flops = 2 * complexFactor(operandOf(op, 0)) * multiplyAdds(op, *conv);
  work.type = operandType(operandOf(op, 0), operandOf(op, 1));
  work.reducedPrecision = !wantsFullPrecision(conv->precision);
  return work;
}

// A library call has no dimension numbers here. Each element on the output side meets the kernel
// divided by its output features; padding is not known, so all taps count. The target says which of
// the three tensors is the result.
Work libraryConvolutionWork(const OpInfo& op) {
  const auto* call = op.get<CustomCallAttributes>();
  std::string target = call == nullptr ? std::string() : call->target;
  const TensorType* outputSide = &resultOf(op, 0);
  const TensorType* kernel = &operandOf(op, 1);
  if (target.find("BackwardInput") != std::string::npos)
    outputSide = &operandOf(op, 0);
  if (target.find("BackwardFilter") != std::string::npos) {
    outputSide = &operandOf(op, 1);
    kernel = &resultOf(op, 0);
  }
  Work work;
  work.bytes = op.operandBytes() + resultOf(op, 0).bytes();
  work.flops = 2 * outputSide->elementCount() * kernel->elementCount() /
               sharedFeatures(*outputSide, *kernel);
  work.type = operandType(operandOf(op, 0), operandOf(op, 1));
  work.reducedPrecision = true;
  return work;
}

void addConvolutionRules(RuleSink& sink) {
  sink.add<convolutionWork>({"stablehlo.convolution", "stablehlo.dynamic_conv"});
}

} // namespace nocturne
