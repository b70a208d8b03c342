#include "estimators/roofline_estimator.h"

#include <algorithm>

#include "estimators/rules.h"

namespace nocturne {

namespace {

// Whose rate a type has where the table does not name it: types that the same units handle.
ElementKind standIn(ElementKind kind) {
  switch (kind) {
  case ElementKind::UI2:
    return ElementKind::I2;
  case ElementKind::UI4:
    return ElementKind::I4;
  case ElementKind::UI8:
  case ElementKind::I1:
    return ElementKind::I8;
  case ElementKind::UI16:
    return ElementKind::I16;
  case ElementKind::UI32:
    return ElementKind::I32;
  case ElementKind::UI64:
  case ElementKind::Index:
    return ElementKind::I64;
  case ElementKind::F8E3M4:
  case ElementKind::F8E4M3:
  case ElementKind::F8E4M3FNUZ:
  case ElementKind::F8E4M3B11FNUZ:
  case ElementKind::F8E5M2:
  case ElementKind::F8E5M2FNUZ:
    return ElementKind::F8E4M3FN;
  default:
    return ElementKind::None;
  }
}

const StatisticFormat kBytes{"", "B", "", true, 3};
const StatisticFormat kFlops{"", "FLOP", "", true, 3};
const StatisticFormat kOpTime{"", "s", "u", false, 3};

} // namespace

void RooflineEstimator::describe(EstimatorClass<RooflineEstimator>& c) {
  using Self = RooflineEstimator;
  c.name("roofline").version(2).extends<ComputeEstimator>().allowMultiprocess().hitsNeedNoModule();
  c.help(
      "the longer of arithmetic at peak rate and memory traffic at peak bandwidth, per operation");
  c.option("peak_flops", &Self::peakFlops_, option::positive)
      .fromHardware("peak_flops")
      .help("FLOP/s of types that per_datatype_flops does not name");
  c.option("per_datatype_flops", &Self::perDatatypeFlops_, option::positiveTable)
      .fromHardware("per_datatype_flops")
      .defaultValue(Json::object())
      .help("FLOP/s by element type, such as {\"bf16\": 312e12}");
  c.option("memory_bandwidth", &Self::memoryBandwidth_, option::positive)
      .fromHardware("memory_bandwidth")
      .help("B/s");
  c.option("compute_efficiency", &Self::computeEfficiency_, option::fraction)
      .defaultValue(1.0)
      .help("attainable share of the FLOP/s");
  c.option("bandwidth_efficiency", &Self::bandwidthEfficiency_, option::fraction)
      .defaultValue(1.0)
      .help("attainable share of the memory bandwidth");
  c.option("op_overhead_s", &Self::opOverhead_, option::nonNegative)
      .defaultValue(0.0)
      .help("seconds added to each operation that does anything");
  c.option("tf32", &Self::tf32_, option::boolean)
      .defaultValue(true)
      .help("f32 contractions of default precision use the machine's tf32 rate, if it has one");
  c.option("tdp_w", &Self::tdp_, option::nonNegative)
      .fromHardware("tdp_w")
      .defaultValue(0.0)
      .help("power of the device in W, for the energy statistic");
  c.option("hbm_power_ratio", &Self::hbmPowerRatio_, option::nonNegative)
      .defaultValue(0.0)
      .help("share of tdp_w that the memory takes, for the energy statistic");
  c.option("error_on_unknown_type", &Self::errorOnUnknownType_, option::boolean)
      .defaultValue(false)
      .help("fail instead of using peak_flops for a type that per_datatype_flops does not name");
  // A kernel of somebody else's is an everyday part of real modules: the rest is still worth
  // knowing, and the share that is covered says how far to trust it.
  c.option("unknown_custom_call", &Self::setUnknownCustomCall,
           option::oneOf({"error", "skip", "bandwidth"}))
      .defaultValue("bandwidth")
      .topLevel()
      .help("custom calls without a rule for their target: error, skip, bandwidth");
  RuleSink sink(&c);
  addAllRules(sink);
  c.opHandler({"mhlo.fusion", "mhlo.async_start", "stablehlo.async_start"}, &Self::fusion);
  c.opHandler({"stablehlo.custom_call"}, &Self::customCall);
  c.initHook(&Self::prepareRates);
  c.postRunHook(&Self::countIdeal);
  c.mergeWith<&Self::mergeIdeal>();
}

double RooflineEstimator::rateFromTable(ElementKind kind, bool& assumed) const {
  for (ElementKind one : {kind, standIn(kind)}) {
    auto place = perDatatypeFlops_.find(std::string(name(one)));
    if (one != ElementKind::None && place != perDatatypeFlops_.end())
      return place->second;
  }
  assumed = !perDatatypeFlops_.empty();
  return peakFlops_;
}

void RooflineEstimator::prepareRates() {
  bandwidth_ = memoryBandwidth_ * bandwidthEfficiency_;
  hasTf32_ = tf32_ && perDatatypeFlops_.contains("tf32");
  for (size_t i = 0; i <= static_cast<size_t>(ElementKind::Index); ++i) {
    bool assumed = false;
    rates_[i] = rateFromTable(static_cast<ElementKind>(i), assumed) * computeEfficiency_;
    assumed_[i] = assumed;
  }
}

void RooflineEstimator::setTime(OpResult& result, double compute) const {
  double memory = result.bytes / bandwidth_;
  result.bound = compute > memory ? Bound::Compute : Bound::Memory;
  addOverhead(result, std::max(compute, memory));
}

void RooflineEstimator::setKnownTime(OpResult& result, double seconds) const {
  result.bound = Bound::Compute;
  addOverhead(result, seconds);
}

void RooflineEstimator::addOverhead(OpResult& result, double time) const {
  if (!(time > 0))
    result.bound = Bound::Free;
  else if (opOverhead_ > time)
    result.bound = Bound::Overhead;
  result.runtime = time > 0 ? time + opOverhead_ : time;
}

OpResult RooflineEstimator::charge(const OpInfo& op, const Work& work) {
  OpResult result;
  result.flops = work.flops;
  result.bytes = work.bytes;
  double compute = 0;
  if (work.flops > 0) {
    bool tf32 = work.reducedPrecision && work.type == ElementKind::F32 && hasTf32_;
    result.datatype = tf32 ? ElementKind::TF32 : work.type;
    auto kind = static_cast<size_t>(result.datatype);
    compute = work.flops / rates_[kind];
    if (assumed_[kind]) {
      if (errorOnUnknownType_)
        throw ItemError({FailureKind::UnsupportedOp,
                         "per_datatype_flops has no rate for " +
                             std::string(name(result.datatype)) + ", which " + op.name + " needs",
                         "", 0, 0});
      result.rateAssumed = true;
    }
  }
  setTime(result, compute);
  return result;
}

OpResult RooflineEstimator::chargeBandwidth(const OpInfo& op, double bytes) {
  return charge(op, {0, bytes, ElementKind::None, false});
}

// One operation to the outside: its own operands and results move, what is inside stays on the
// chip. Each operation inside is done at the rate of its own type.
OpResult RooflineEstimator::fusion(const OpInfo& op) {
  OpResult result;
  double compute = 0, longest = 0;
  bool moves = false;
  for (const OpInfo& inner : op.nested) {
    OpResult part = estimateOp(inner);
    result.flops += part.flops;
    result.covered = result.covered && part.covered;
    moves = moves || part.bytes > 0;
    if (part.flops == 0)
      continue;
    double time = arithmeticSeconds(inner, part);
    compute += time;
    if (time > longest) {
      longest = time;
      result.datatype = part.datatype;
      result.rateAssumed = part.rateAssumed;
    }
  }
  // Asynchronous starts of collectives, or of computations whose rows follow, only name values.
  if (moves || op.name == "mhlo.fusion")
    result.bytes = op.operandBytes() + op.resultBytes();
  setTime(result, compute);
  return result;
}

double RooflineEstimator::arithmeticSeconds(const OpInfo&, const OpResult& result) const {
  return result.flops / rates_[static_cast<size_t>(result.datatype)];
}

OpResult RooflineEstimator::customCall(const OpInfo& op) {
  const auto* call = op.get<CustomCallAttributes>();
  std::string_view target = call == nullptr ? std::string_view() : call->target;
  if (WorkRule rule = findTargetRule(target))
    return charge(op, workOf(op, rule));
  return chargeUnknown(unknownCustomCall_, op, "custom call target \"" + std::string(target) + '"');
}

void RooflineEstimator::setUnknownCustomCall(const Json& value) {
  unknownCustomCall_ = unknownOpFrom(value);
}

// Adds the run just finished and returns the seconds of its arithmetic.
double RooflineEstimator::addIdeal(IdealSeconds& to, const ModuleResult& result) const {
  std::array<AmountSum, kKinds> flops;
  std::bitset<kKinds> present;
  for (const OpTotal& total : runTotals().entries()) {
    if (total.flops.isZero())
      continue;
    flops[static_cast<size_t>(total.datatype)].merge(total.flops);
    present.set(static_cast<size_t>(total.datatype));
  }
  ExactSum compute;
  for (size_t i = 0; i < kKinds; ++i) {
    if (!present.test(i))
      continue;
    double seconds = flops[i].value() / (rates_[i] / computeEfficiency_);
    compute.add(seconds);
    to.byType[static_cast<ElementKind>(i)].add(seconds);
  }
  to.memory.add(result.bytes / memoryBandwidth_);
  return compute.value();
}

void RooflineEstimator::countIdeal(const Module&, const ModuleResult& result) {
  double computeSeconds = addIdeal(ideal_, result);
  double runtime = result.runtime.value_or(0);
  if (tdp_ == 0 || hbmPowerRatio_ == 0)
    return;
  if (!energy_)
    energy_.emplace();
  if (runtime == 0)
    return;
  double compute = computeSeconds / runtime;
  double memory = result.bytes / memoryBandwidth_ / runtime;
  double power = compute * tdp_ * (1 - hbmPowerRatio_) + memory * tdp_ * hbmPowerRatio_;
  energy_->add(std::min(tdp_, power) * runtime);
}

void RooflineEstimator::mergeIdeal(const RooflineEstimator& other) {
  for (const auto& [type, seconds] : other.ideal_.byType)
    ideal_.byType[type].merge(seconds);
  ideal_.memory.merge(other.ideal_.memory);
  if (!other.energy_)
    return;
  if (!energy_)
    energy_.emplace();
  energy_->merge(*other.energy_);
}

void RooflineEstimator::addUtilisation(StatisticsTree& tree, const RunTotals& totals,
                                       const IdealSeconds& ideal) const {
  TimeSum runtime;
  AmountSum flops, bytes;
  ExactSum compute;
  std::map<ElementKind, TimeSum> runtimeByType;
  for (const OpTotal& total : totals.entries()) {
    runtime.merge(total.runtime);
    flops.merge(total.flops);
    bytes.merge(total.bytes);
    runtimeByType[total.datatype].merge(total.runtime);
  }
  ContainerStatistic& root = tree.root();
  ExactSum seconds = runtime.exact();
  for (const auto& [type, idealSeconds] : ideal.byType) {
    compute.merge(idealSeconds);
    root.container("per_datatype")
        .container(name(type))
        .ratio("flops_util")
        .add(idealSeconds, runtimeByType[type].exact());
  }
  root.ratio("flops_util", {"FLOP/s utilisation"}).add(compute, seconds);
  root.ratio("mem_bw_util", {"Memory bandwidth utilisation"}).add(ideal.memory, seconds);
  root.ratio("avg_flopss", {"Average FLOP/s", "FLOP/s", "", true, 3}).add(flops.exact(), seconds);
  root.ratio("avg_mem_bw", {"Average Memory Bandwidth", "B/s", "", true, 3})
      .add(bytes.exact(), seconds);
}

void RooflineEstimator::addTotals(StatisticsTree& tree, const RunTotals& totals) const {
  ComputeEstimator::addTotals(tree, totals);
  ContainerStatistic& root = tree.root();
  AmountSum allFlops, allBytes;
  ContainerStatistic& perOp = root.container("per_op");
  ContainerStatistic& perType = root.container("per_datatype");
  for (const OpTotal& total : totals.entries()) {
    allFlops.merge(total.flops);
    allBytes.merge(total.bytes);
    ContainerStatistic& op = perOp.container(slotName(total.slot));
    op.sum("flops", kFlops).add(total.flops.exact());
    op.sum("mem_bytes", kBytes).add(total.bytes.exact());
    if (total.flops.isZero())
      continue;
    ContainerStatistic& type = perType.container(name(total.datatype));
    type.sum("flops", kFlops).add(total.flops.exact());
    type.sum("runtime", kOpTime).add(total.runtime.exact());
  }
  root.sum("flops", kFlops).add(allFlops.exact());
  root.sum("mem_bytes", kBytes).add(allBytes.exact());
}

void RooflineEstimator::addRunStatisticsTo(StatisticsTree& tree, const ModuleResult& result) const {
  ComputeEstimator::addRunStatisticsTo(tree, result);
  IdealSeconds ideal;
  addIdeal(ideal, result);
  addUtilisation(tree, runTotals(), ideal);
}

void RooflineEstimator::addStatisticsTo(StatisticsTree& tree) const {
  ComputeEstimator::addStatisticsTo(tree);
  addUtilisation(tree, totals(), ideal_);
  if (energy_)
    tree.root().sum("total_energy", {"Total energy", "J", "", true, 3}).add(*energy_);
}

} // namespace nocturne
