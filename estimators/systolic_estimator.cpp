#include "estimators/systolic_estimator.h"

#include <algorithm>

#include "estimators/rules.h"

namespace nocturne {

namespace {

constexpr int64_t kMegabyte = 1 << 20;

double bytesOfPartialSum(const TensorType& result) {
  return std::max(4.0, storageBits(result.element.kind) / 8.0);
}

void setBytes(MatrixProduct& product, const OpInfo& op) {
  product.inputBytes = operandOf(op, 0).bytes();
  product.weightBytes = operandOf(op, 1).bytes();
  product.outputBytes = resultOf(op, 0).bytes();
  product.accumulatorBytes = bytesOfPartialSum(resultOf(op, 0));
}

MatrixProduct productOfDot(const OpInfo& op) {
  const TensorType &left = operandOf(op, 0), &right = operandOf(op, 1);
  MatrixProduct product;
  product.k = 1;
  if (const auto* dot = op.get<DotAttributes>()) {
    for (int64_t dimension : dot->lhsContracting)
      product.k *= extent(left, dimension);
    for (int64_t dimension : dot->lhsBatching)
      product.products *= extent(left, dimension);
  } else {
    product.k = extentFromEnd(left, 0);
  }
  const double shared = product.k * product.products;
  if (shared > 0) {
    product.m = left.elementCount() / shared;
    product.n = right.elementCount() / shared;
  }
  setBytes(product, op);
  return product;
}

// Each position of the window over the output is a row, each tap of it a column: the array does the
// taps on padding and in holes as well.
MatrixProduct productOfConvolution(const OpInfo& op, const ConvolutionAttributes& conv) {
  const TensorType &kernel = operandOf(op, 1), &output = resultOf(op, 0);
  MatrixProduct product;
  product.products = static_cast<double>(conv.featureGroups * conv.batchGroups);
  product.m = extent(output, conv.outBatch);
  for (int64_t dimension : conv.outSpatial)
    product.m *= extent(output, dimension);
  product.k = extent(kernel, conv.rhsInputFeature);
  for (int64_t dimension : conv.rhsSpatial)
    product.k *= extent(kernel, dimension);
  product.n = extent(output, conv.outFeature) / product.products;
  setBytes(product, op);
  return product;
}

bool isDot(const OpInfo& op) {
  return op.name == "stablehlo.dot_general" || op.name == "stablehlo.dot";
}

bool isConvolution(const OpInfo& op) {
  return op.name == "stablehlo.convolution" || op.name == "stablehlo.dynamic_conv";
}

} // namespace

std::optional<MatrixProduct> matrixProductOf(const OpInfo& op) {
  if (op.operands.size() < 2 || op.results.empty() || isComplex(op.results[0].element.kind))
    return std::nullopt;
  if (isDot(op))
    return productOfDot(op);
  const auto* conv = op.get<ConvolutionAttributes>();
  if (isConvolution(op) && conv != nullptr)
    return productOfConvolution(op, *conv);
  return std::nullopt;
}

void SystolicEstimator::describe(EstimatorClass<SystolicEstimator>& c) {
  using Self = SystolicEstimator;
  c.name("systolic").version(1).extends<RooflineEstimator>().allowMultiprocess();
  c.hitsNeedNoModule();
  c.help("contractions and convolutions on a systolic array, the rest as a roofline");
  c.option("rows", &Self::rows_, option::positiveInteger).help("elements of the array in a column");
  c.option("columns", &Self::columns_, option::positiveInteger)
      .help("elements of the array in a row");
  c.option("frequency_hz", &Self::frequency_, option::nonNegative)
      .defaultValue(0.0)
      .help("cycles per second; 0: the machine's peak_flops / (2 rows columns)");
  c.option("dataflow", &Self::setDataflow,
           option::oneOf({"weight_stationary", "output_stationary", "input_stationary"}))
      .defaultValue("weight_stationary")
      .help("what rests in the array");
  c.option("input_buffer_bytes", &Self::inputBuffer_, option::positive)
      .defaultValue(kMegabyte)
      .help("memory for the left operand, both halves of the double buffer");
  c.option("weight_buffer_bytes", &Self::weightBuffer_, option::positive)
      .defaultValue(kMegabyte)
      .help("memory for the right operand or kernel");
  c.option("output_buffer_bytes", &Self::outputBuffer_, option::positive)
      .defaultValue(kMegabyte)
      .help("memory for results and partial sums");
  c.opHandler({"stablehlo.dot_general", "stablehlo.dot"}, &Self::dot);
  c.opHandler({"stablehlo.convolution", "stablehlo.dynamic_conv"}, &Self::convolution);
  c.initHook(&Self::setUp);
  c.moduleMetadataHook(&Self::describeArray);
}

void SystolicEstimator::setDataflow(const Json& value) {
  array_.dataflow = value == "output_stationary"  ? Dataflow::OutputStationary
                    : value == "input_stationary" ? Dataflow::InputStationary
                                                  : Dataflow::WeightStationary;
}

void SystolicEstimator::setUp() {
  array_.rows = static_cast<double>(rows_);
  array_.columns = static_cast<double>(columns_);
  array_.inputBuffer = inputBuffer_;
  array_.weightBuffer = weightBuffer_;
  array_.outputBuffer = outputBuffer_;
  frequencyDerived_ = frequency_ == 0;
  if (frequencyDerived_)
    frequency_ = peakFlops() / (2 * array_.rows * array_.columns);
  array_.bytesPerCycle = attainableBandwidth() / frequency_;
}

// The array waits for the data of its first fold, and the results of the last one have to leave;
// in between, memory and array work at the same time.
double SystolicEstimator::arraySeconds(const SystolicCost& cost) const {
  return cost.cycles / frequency_ + (cost.firstBytes + cost.lastBytes) / attainableBandwidth();
}

OpResult SystolicEstimator::dot(const OpInfo& op) {
  return onArray(op, workOf(op, dotWork));
}

OpResult SystolicEstimator::convolution(const OpInfo& op) {
  return onArray(op, workOf(op, convolutionWork));
}

OpResult SystolicEstimator::onArray(const OpInfo& op, const Work& work) {
  const std::optional<MatrixProduct> product = matrixProductOf(op);
  if (!product)
    return charge(op, work);
  const SystolicCost cost = costOf(array_, *product);
  OpResult result;
  result.flops = work.flops;
  result.bytes = cost.bytes;
  if (work.flops > 0)
    result.datatype = work.type;
  setTime(result, arraySeconds(cost));
  if (detailsWanted())
    result.metadata = {{"cycles", cost.cycles}, {"array_utilisation", cost.utilisation}};
  return result;
}

double SystolicEstimator::arithmeticSeconds(const OpInfo& op, const OpResult& result) const {
  const std::optional<MatrixProduct> product = matrixProductOf(op);
  return product ? costOf(array_, *product).cycles / frequency_
                 : RooflineEstimator::arithmeticSeconds(op, result);
}

Json SystolicEstimator::describeArray(const ModuleResult&) {
  return {{"systolic", {{"frequency_hz", frequency_}, {"frequency_derived", frequencyDerived_}}}};
}

} // namespace nocturne
