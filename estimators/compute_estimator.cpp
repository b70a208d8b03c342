#include "estimators/compute_estimator.h"

#include <algorithm>
#include <chrono>
#include <map>

namespace nocturne {

namespace {

const StatisticFormat kRuntime{"Compute Runtime Estimation", "s", "u", false, 3};
const StatisticFormat kOpRuntime{"", "s", "u", false, 3};
const StatisticFormat kTime{"", "s", "", true, 3};

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void addModules(StatisticsTree& tree, int64_t modules, int64_t hits, const ExactSum& runtime,
                const ExactSum& operators) {
  ContainerStatistic& root = tree.root();
  root.count("modules_processed").add(modules);
  root.sum("operators_processed").add(operators);
  root.sum("runtime", kRuntime).add(runtime);
  root.count("cache_hits", {"Cache hits", "", "", false, 0}).add(hits);
  root.ratio("cache_hit_prop", {"Basic block reuse rate", "", "", false, 3})
      .add(static_cast<double>(hits), static_cast<double>(modules));
}

} // namespace

UnknownOp unknownOpFrom(const Json& value) {
  return value == "skip"        ? UnknownOp::Skip
         : value == "bandwidth" ? UnknownOp::Bandwidth
                                : UnknownOp::Error;
}

void ComputeEstimator::describe(EstimatorClass<ComputeEstimator>& c) {
  c.name("compute").version(1).extends<Estimator>().hitsNeedNoModule();
  c.option("unknown_op", &ComputeEstimator::setUnknownOp,
           option::oneOf({"error", "skip", "bandwidth"}))
      .defaultValue("error")
      .topLevel()
      .help("operations without a rule: error, skip (no time), bandwidth (charge their bytes)");
  c.defaultOpHandler(&ComputeEstimator::handleUnknown);
  c.preEstimateHook(&ComputeEstimator::countStart);
  c.postRunHook(&ComputeEstimator::countRun);
  c.postEstimateHook(&ComputeEstimator::countEstimate);
  c.mergeWith<&ComputeEstimator::mergeCounts>();
}

void ComputeEstimator::setUnknownOp(const Json& value) {
  unknownOp_ = unknownOpFrom(value);
}

OpResult ComputeEstimator::handleUnknown(const OpInfo& op) {
  return chargeUnknown(unknownOp_, op, "operation " + op.name);
}

OpResult ComputeEstimator::chargeUnknown(UnknownOp policy, const OpInfo& op,
                                         const std::string& what) {
  OpResult result;
  switch (policy) {
  case UnknownOp::Error:
    throw ItemError({FailureKind::UnsupportedOp,
                     "estimator " + displayName() + " has no rule for " + what, "", 0, 0});
  case UnknownOp::Skip:
    result.runtime = 0;
    break;
  case UnknownOp::Bandwidth:
    result = chargeBandwidth(op, op.operandBytes() + op.resultBytes());
    break;
  }
  result.covered = false;
  return result;
}

OpResult ComputeEstimator::chargeBandwidth(const OpInfo&, double) {
  throw ItemError({FailureKind::BadConfig,
                   "estimator " + displayName() + " has no bandwidth to charge", "", 0, 0});
}

void ComputeEstimator::countStart(const Module&) {
  if (!firstStart_)
    firstStart_ = now();
}

void ComputeEstimator::countRun(const Module&, const ModuleResult&) {
  totals_.merge(runTotals());
}

void ComputeEstimator::countEstimate(const Module&, const EstimatorResult& result) {
  ++modules_;
  hits_ += result.fromCache ? 1 : 0;
  runtime_.add(result.runtime.value_or(0));
  operators_.add(result.totalRuns);
  lastEnd_ = now();
}

void ComputeEstimator::mergeCounts(const ComputeEstimator& other) {
  totals_.merge(other.totals_, [&](uint32_t slot) { return ownSlot(other, slot); });
  runtime_.merge(other.runtime_);
  operators_.merge(other.operators_);
  modules_ += other.modules_;
  hits_ += other.hits_;
  if (other.firstStart_)
    firstStart_ = std::min(firstStart_.value_or(*other.firstStart_), *other.firstStart_);
  if (other.lastEnd_)
    lastEnd_ = std::max(lastEnd_.value_or(*other.lastEnd_), *other.lastEnd_);
}

void ComputeEstimator::addTotals(StatisticsTree& tree, const RunTotals& totals) const {
  ContainerStatistic& perOp = tree.root().container("per_op");
  for (const OpTotal& total : totals.entries()) {
    ContainerStatistic& name = perOp.container(slotName(total.slot));
    name.sum("runtime", kOpRuntime).add(total.runtime.exact());
    name.sum("count").add(total.runs.exact());
  }
}

void ComputeEstimator::addStatisticsTo(StatisticsTree& tree) const {
  Estimator::addStatisticsTo(tree);
  addModules(tree, modules_, hits_, runtime_, operators_);
  addTotals(tree, totals_);
  IntervalStatistic& time = tree.root().interval("estimation_time", kTime);
  if (firstStart_)
    time.sampleStart(*firstStart_);
  if (lastEnd_)
    time.sampleEnd(*lastEnd_);
}

void ComputeEstimator::addRunStatisticsTo(StatisticsTree& tree, const ModuleResult& result) const {
  tree.root().sum("operators_processed").add(result.totalRuns);
  tree.root().sum("runtime", kRuntime).add(result.runtime.value_or(0));
  addTotals(tree, runTotals());
}

void ComputeEstimator::addHit(StatisticsTree& tree, const ResultRow& row) {
  ExactSum runtime, operators;
  runtime.add(row.runtime.value_or(0));
  operators.add(row.totalRuns);
  addModules(tree, 1, 1, runtime, operators);
}

void addShares(StatisticsTree& tree) {
  const Statistic* perOp = tree.root().find("per_op");
  const Statistic* runtime = tree.root().find("runtime");
  if (perOp == nullptr || runtime == nullptr)
    return;
  ExactSum total;
  for (const auto& [name, member] : static_cast<const ContainerStatistic*>(perOp)->members())
    if (const auto* own = static_cast<const ContainerStatistic*>(member.get())->find("runtime"))
      total.merge(static_cast<const SumStatistic*>(own)->sum());
  StatisticsTree shares;
  ContainerStatistic& into =
      shares.root().container("per_op_runtime_prop", {"Op time proportions"});
  into.sortByValue = true;
  for (const auto& [name, member] : static_cast<const ContainerStatistic*>(perOp)->members())
    if (const auto* own = static_cast<const ContainerStatistic*>(member.get())->find("runtime"))
      into.ratio(name).add(static_cast<const SumStatistic*>(own)->sum(), total);
  if (tree.root().find("per_op_runtime_prop") == nullptr)
    tree.merge(shares);
}

} // namespace nocturne
