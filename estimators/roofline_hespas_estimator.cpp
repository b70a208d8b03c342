#include "estimators/roofline_hespas_estimator.h"

#include <algorithm>
#include <array>

#include "estimators/rules.h"

namespace nocturne {

namespace {

[[noreturn]] void refuse(const OpInfo& op, const std::string& why) {
  throw ItemError({FailureKind::UnsupportedOp, op.name + ": " + why, "", 0, 0});
}

// Elements are packed bit by bit; nothing takes less than one byte.
double sizeOf(const OpInfo& op, const TensorType& type) {
  ElementKind kind = type.element.kind;
  if (kind == ElementKind::Token || kind == ElementKind::None || kind == ElementKind::Index ||
      type.element.isQuantized())
    refuse(op, "hespas knows no size for " + type.text());
  double bits = type.elementCount() * widthInBits(kind);
  double bytes = static_cast<double>((static_cast<uint64_t>(bits) + 7) / 8);
  return std::max(1.0, bytes);
}

double input(const OpInfo& op, size_t index) {
  if (index >= op.operands.size())
    refuse(op, "operand " + std::to_string(index) + " is missing");
  return sizeOf(op, op.operands[index]);
}

double output(const OpInfo& op, size_t index) {
  if (index >= op.results.size())
    refuse(op, "result " + std::to_string(index) + " is missing");
  return sizeOf(op, op.results[index]);
}

double elements(const OpInfo& op) {
  if (op.results.empty())
    refuse(op, "it has no result");
  return op.results[0].elementCount();
}

void requireOneResult(const OpInfo& op) {
  if (op.results.size() != 1)
    refuse(op, "hespas wants exactly one result");
}

double dimension(const TensorType& type, size_t index) {
  return index < type.dims.size() ? static_cast<double>(type.dims[index]) : 1;
}

// The first of the widest types, operands before results. hespas takes any of them.
ElementKind widestType(const OpInfo& op) {
  ElementKind widest = ElementKind::None;
  unsigned bits = 0;
  auto consider = [&](const TensorType& type) {
    ElementKind component = componentKind(type.element.kind);
    if (unsigned width = widthInBits(component); widest == ElementKind::None || width > bits) {
      widest = component;
      bits = width;
    }
  };
  std::for_each(op.operands.begin(), op.operands.end(), consider);
  std::for_each(op.results.begin(), op.results.end(), consider);
  if (widest == ElementKind::None)
    refuse(op, "it has no operand and no result to take a type from");
  return widest;
}

double windowSize(const OpInfo& op) {
  double size = 1;
  if (const auto* reduction = op.get<WindowReductionAttributes>())
    for (int64_t extent : reduction->window.sizes)
      size *= static_cast<double>(extent);
  return size;
}

// The reader keeps terminators, as hespas does.
double countWithBodies(const OpInfo& op) {
  double count = 1;
  for (const OpInfo& inner : op.nested)
    count += countWithBodies(inner);
  return count;
}

constexpr auto kCommunication = std::to_array<const char*>(
    {"stablehlo.collective_permute", "stablehlo.all_gather", "stablehlo.all_to_all",
     "stablehlo.reduce_scatter", "stablehlo.all_reduce"});

bool isCommunication(const OpInfo& op) {
  return std::find(kCommunication.begin(), kCommunication.end(), op.name) != kCommunication.end();
}

std::vector<std::string> stablehlo(const std::vector<std::string>& names) {
  return withDialect("stablehlo", names);
}

} // namespace

void RooflineHespasEstimator::describe(EstimatorClass<RooflineHespasEstimator>& c) {
  using Self = RooflineHespasEstimator;
  c.name("roofline_hespas").version(2).extends<ComputeEstimator>().allowMultiprocess();
  c.hitsNeedNoModule();
  c.help("the roofline of the Python tool hespas, quirks included, to reproduce its numbers");
  c.option("peak_flops", &Self::peakFlops_, option::positive)
      .fromHardware("peak_flops")
      .help("FLOP/s of types that per_datatype_flops does not name");
  c.option("per_datatype_flops", &Self::perDatatypeFlops_, option::positiveTable)
      .fromHardware("per_datatype_flops")
      .defaultValue(Json::object())
      .help("FLOP/s by element type");
  c.option("memory_bandwidth", &Self::memoryBandwidth_, option::positive)
      .fromHardware("memory_bandwidth")
      .help("B/s");
  c.option("error_on_unknown_type", &Self::errorOnUnknownType_, option::boolean)
      .defaultValue(false)
      .help("fail instead of using peak_flops for a type that per_datatype_flops does not name");

  c.opHandler(stablehlo({"add", "subtract", "multiply", "divide", "compare", "maximum", "minimum",
                         "and", "or", "xor"}),
              &Self::binary);
  c.opHandler(stablehlo({"clamp", "select"}), &Self::ternary);
  c.opHandler(stablehlo({"abs", "tanh", "is_finite", "convert", "exponential", "sign", "log",
                         "negate", "power", "cosine", "rsqrt", "sqrt", "logistic", "sine",
                         "round_nearest_even", "not"}),
              &Self::unary);
  c.opHandler(stablehlo({"constant", "iota", "partition_id", "replica_id", "get_tuple_element",
                         "optimization_barrier", "real", "imag", "complex", "return"}),
              &Self::nothing);
  c.opHandler({"func.return", "func.call", "mhlo.return"}, &Self::nothing);
  c.opHandler(
      stablehlo({"transpose", "reshape", "broadcast_in_dim", "pad", "reverse", "reduce_precision"}),
      &Self::copy);
  c.opHandler({"mhlo.bitcast", "mhlo.copy"}, &Self::copy);
  c.opHandler(stablehlo({"concatenate"}), &Self::concatenate);
  c.opHandler(stablehlo({"slice", "dynamic_slice"}), &Self::slice);
  c.opHandler(stablehlo({"dynamic_update_slice"}), &Self::updateSlice);
  c.opHandler(stablehlo({"gather"}), &Self::gather);
  c.opHandler(stablehlo({"scatter"}), &Self::scatter);
  c.opHandler(stablehlo({"reduce"}), &Self::reduce);
  c.opHandler(stablehlo({"reduce_window"}), &Self::reduceWindow);
  c.opHandler(stablehlo({"select_and_scatter"}), &Self::selectAndScatter);
  c.opHandler(stablehlo({"sort"}), &Self::sort);
  c.opHandler(stablehlo({"dot_general", "dot"}), &Self::dot);
  c.opHandler(stablehlo({"convolution"}), &Self::convolution);
  c.opHandler({"mhlo.ragged_dot"}, &Self::raggedDot);
  c.opHandler({"mhlo.fusion"}, &Self::fusion);
  c.opHandler(stablehlo({"custom_call"}), &Self::customCall);
  c.opHandler({kCommunication.begin(), kCommunication.end()}, &Self::communication);
  c.initHook(&Self::prepareRates);
  c.preRunHook(&Self::findUnseparated);
}

void RooflineHespasEstimator::prepareRates() {
  for (const auto& [type, rate] : perDatatypeFlops_)
    if (std::optional<ElementKind> kind = elementKindFromName(type))
      rates_[static_cast<size_t>(*kind)] = rate;
}

double RooflineHespasEstimator::rateOf(const OpInfo& op, ElementKind widest, bool& assumed) const {
  bool promoted = widest == ElementKind::F32 &&
                  rates_[static_cast<size_t>(ElementKind::TF32)] != 0 &&
                  (op.name == "stablehlo.dot_general" || op.name == "stablehlo.convolution");
  double rate = rates_[static_cast<size_t>(promoted ? ElementKind::TF32 : widest)];
  if (rate != 0)
    return rate;
  assumed = !perDatatypeFlops_.empty();
  if (assumed && errorOnUnknownType_)
    refuse(op, "per_datatype_flops has no rate for " + std::string(name(widest)));
  return peakFlops_;
}

OpResult RooflineHespasEstimator::finish(const OpInfo& op, double flops, double bytes) {
  OpResult result;
  result.flops = flops;
  result.bytes = bytes;
  result.datatype = widestType(op);
  double compute = flops < 1 ? 0 : flops / rateOf(op, result.datatype, result.rateAssumed);
  double memory = bytes < 1 ? 0 : bytes / memoryBandwidth_;
  result.runtime = std::max(compute, memory);
  if (*result.runtime > 0)
    result.bound = compute > memory ? Bound::Compute : Bound::Memory;
  if (op.inCallee)
    addBodies(op, result);
  return result;
}

// In a called function hespas lists the operations of reducers and the like beside what applies
// them.
void RooflineHespasEstimator::addBodies(const OpInfo& op, OpResult& result) {
  for (const OpInfo& inner : op.nested) {
    OpResult part = estimateOp(inner);
    if (!inner.inCallee)
      addBodies(inner, part);
    result.flops += part.flops;
    result.bytes += part.bytes;
    result.runtime = *result.runtime + *part.runtime;
  }
}

OpResult RooflineHespasEstimator::nothing(const OpInfo& op) {
  return finish(op, 0, 0);
}

OpResult RooflineHespasEstimator::binary(const OpInfo& op) {
  return finish(op, elements(op), input(op, 0) + input(op, 1) + output(op, 0));
}

OpResult RooflineHespasEstimator::ternary(const OpInfo& op) {
  return finish(op, elements(op), input(op, 0) + input(op, 1) + input(op, 2) + output(op, 0));
}

OpResult RooflineHespasEstimator::unary(const OpInfo& op) {
  requireOneResult(op);
  return finish(op, elements(op), input(op, 0) + output(op, 0));
}

OpResult RooflineHespasEstimator::copy(const OpInfo& op) {
  return finish(op, 0, input(op, 0) + output(op, 0));
}

OpResult RooflineHespasEstimator::concatenate(const OpInfo& op) {
  double bytes = output(op, 0);
  for (size_t i = 0; i < op.operands.size(); ++i)
    bytes += input(op, i);
  return finish(op, 0, bytes);
}

OpResult RooflineHespasEstimator::slice(const OpInfo& op) {
  return finish(op, 0, 2 * output(op, 0));
}

OpResult RooflineHespasEstimator::updateSlice(const OpInfo& op) {
  return finish(op, 0, input(op, 0) + input(op, 1) + output(op, 0));
}

OpResult RooflineHespasEstimator::gather(const OpInfo& op) {
  requireOneResult(op);
  return finish(op, 0, input(op, 0) + input(op, 1) + output(op, 0));
}

OpResult RooflineHespasEstimator::scatter(const OpInfo& op) {
  requireOneResult(op);
  return finish(op, 0, input(op, 0) + output(op, 0));
}

OpResult RooflineHespasEstimator::reduce(const OpInfo& op) {
  double reduced = 1;
  if (const auto* attributes = op.get<DimensionsAttributes>())
    for (int64_t index : attributes->dims)
      reduced *= dimension(op.operands.at(0), static_cast<size_t>(index));
  return finish(op, (reduced - 1) * elements(op), input(op, 0) + output(op, 0));
}

OpResult RooflineHespasEstimator::reduceWindow(const OpInfo& op) {
  return finish(op, std::max(windowSize(op) - 1, 0.0) * elements(op),
                input(op, 0) + output(op, 0) + input(op, 1));
}

OpResult RooflineHespasEstimator::selectAndScatter(const OpInfo& op) {
  double bytes = input(op, 0) + input(op, 1) + output(op, 0);
  return finish(op, std::max(windowSize(op) - 1, 0.0) * op.operands[1].elementCount(), bytes);
}

OpResult RooflineHespasEstimator::sort(const OpInfo& op) {
  double size = input(op, 0);
  double passes = std::max(1U, (widthInBits(op.operands[0].element.kind) + 7) / 8);
  return finish(op, 0, 2 * static_cast<double>(op.operands.size()) * size * passes);
}

OpResult RooflineHespasEstimator::dot(const OpInfo& op) {
  double bytes = input(op, 0) + input(op, 1) + output(op, 0);
  double shared = 1;
  if (const auto* attributes = op.get<DotAttributes>())
    for (int64_t index : attributes->lhsContracting)
      shared *= dimension(op.operands[0], static_cast<size_t>(index));
  return finish(op, 2 * elements(op) * shared, bytes);
}

OpResult RooflineHespasEstimator::convolution(const OpInfo& op) {
  double bytes = input(op, 0) + input(op, 1) + output(op, 0);
  const TensorType& kernel = op.operands[1];
  if (kernel.dims.size() != 4 || op.results[0].dims.size() != 4)
    refuse(op, "hespas handles convolutions of rank 4 only");
  double taps = dimension(kernel, 0) * dimension(kernel, 1) * dimension(kernel, 2);
  return finish(op, 2 * elements(op) * taps, bytes);
}

OpResult RooflineHespasEstimator::raggedDot(const OpInfo& op) {
  double bytes = input(op, 0) + input(op, 1) + input(op, 2) + output(op, 0);
  auto rank = [](const TensorType& type) { return type.dims.size(); };
  const TensorType &left = op.operands[0], &right = op.operands[1], &out = op.results[0];
  std::array ranks{rank(left), rank(right), rank(op.operands[2]), rank(out)};
  using Ranks = std::array<size_t, 4>;
  if (rank(left) < 2 || rank(out) < 2)
    refuse(op, "hespas does not know this form");
  double product = dimension(out, rank(out) - 2) * dimension(out, rank(out) - 1) *
                   dimension(left, rank(left) - 1);
  if (ranks == Ranks{3, 4, 2, 3} || ranks == Ranks{2, 3, 1, 2})
    return finish(op, 2 * (rank(out) == 2 ? 1 : dimension(out, 0)) * product * dimension(right, 0),
                  bytes);
  if (ranks == Ranks{3, 3, 2, 4} || ranks == Ranks{2, 2, 1, 3})
    return finish(op, 2 * (rank(out) == 4 ? dimension(out, 0) : 1) * product, bytes);
  refuse(op, "hespas does not know this form");
}

OpResult RooflineHespasEstimator::fusion(const OpInfo& op) {
  double flops = 0, bytes = 0;
  for (const OpInfo& inner : op.nested)
    flops += estimateOp(inner).flops;
  for (size_t i = 0; i < op.operands.size(); ++i)
    bytes += input(op, i);
  for (size_t i = 0; i < op.results.size(); ++i)
    bytes += output(op, i);
  return finish(op, flops, bytes);
}

OpResult RooflineHespasEstimator::customCall(const OpInfo& op) {
  const auto* call = op.get<CustomCallAttributes>();
  std::string target = call == nullptr ? std::string() : call->target;
  if (target.find("conv") != std::string::npos)
    return convolution(op);
  if (target.find("TopK") == std::string::npos) {
    OpResult result = finish(op, 0, 0);
    result.covered = false;
    return result;
  }
  double bytes = input(op, 0);
  for (size_t i = 0; i < op.results.size(); ++i)
    bytes += output(op, i);
  return finish(op, 0, bytes);
}

// For the policy on operations without a rule, of which hespas has none. Bytes are as stored, since
// hespas would refuse some of the types.
OpResult RooflineHespasEstimator::chargeBandwidth(const OpInfo& op, double bytes) {
  OpResult result;
  result.bytes = bytes;
  result.runtime = bytes / memoryBandwidth_;
  if (bytes > 0)
    result.bound = Bound::Memory;
  if (op.inCallee)
    addBodies(op, result);
  return result;
}

// Separates compute blocks at the top of main and is no part of them; anywhere else it is unknown.
OpResult RooflineHespasEstimator::communication(const OpInfo& op) {
  if (unseparated_.contains(&op))
    refuse(op, "hespas handles collectives only at the top level of the entry function");
  OpResult result;
  result.runtime = 0;
  return result;
}

void RooflineHespasEstimator::findUnseparated(const Module& module) {
  communication_.assign(module.ops.size(), false);
  bool any = false;
  for (size_t i = 0; i < module.ops.size(); ++i)
    any = (communication_[i] = isCommunication(module.ops[i])) || any;
  unseparated_.clear();
  if (!any)
    return;
  for (const OpRow& row : module.rows)
    if ((row.callDepth != 0 || row.loopDepth != 0) && communication_[row.op])
      unseparated_.insert(&module.ops[row.op]);
}

namespace {

// How many operations hespas lists for one row.
double listedOperations(const OpInfo& op) {
  if (op.inCallee)
    return countWithBodies(op);
  // A fusion is replaced by what is in it.
  return op.name == "mhlo.fusion" ? static_cast<double>(op.nested.size()) : 1;
}

} // namespace

// hespas cuts the entry function at collectives and after every 1024 operations, calls counting as
// one, and ends each block but the last, which has one, with a return of its own.
double RooflineHespasEstimator::operationCount(const Module& module) const {
  constexpr uint64_t kBlockLimit = 1024;
  std::vector<double> sizes;
  sizes.reserve(module.ops.size());
  for (const OpInfo& op : module.ops)
    sizes.push_back(listedOperations(op));
  double operations = 0, blocks = 0;
  uint64_t inBlock = 0;
  uint32_t last = UINT32_MAX;
  for (const OpRow& row : module.rows) {
    bool isNew = row.topLevel != last;
    last = row.topLevel;
    if (communication_[row.op]) {
      inBlock = 0;
      continue;
    }
    operations += sizes[row.op];
    if (!isNew)
      continue;
    blocks += inBlock == 0 ? 1 : 0;
    inBlock = (inBlock + 1) % kBlockLimit;
  }
  return operations + std::max(0.0, blocks - 1);
}

void RooflineHespasEstimator::addTotals(StatisticsTree& tree, const RunTotals& totals) const {
  ComputeEstimator::addTotals(tree, totals);
  for (const OpTotal& total : totals.entries()) {
    tree.root().sum("flops", {"", "FLOP", "", true, 3}).add(total.flops.exact());
    tree.root().sum("mem_bytes", {"", "B", "", true, 3}).add(total.bytes.exact());
  }
}

} // namespace nocturne
