#include "estimators/cpu_estimator.h"

#include <algorithm>

namespace nocturne {

namespace {

const StatisticFormat kBuild{"Build time", "s", "", true, 3};

void addMeasurement(ContainerStatistic& into, const Measurement& measurement) {
  into.count("libraries_built").add(measurement.built ? 1 : 0);
  into.sum("build_time", kBuild).add(measurement.buildSeconds);
  into.count("samples").add(static_cast<int64_t>(measurement.samples));
}

Json metadataOf(const Measurement& measurement) {
  return {
      {"median_s", measurement.median},      {"min_s", measurement.least},
      {"mean_s", measurement.mean},          {"spread_s", measurement.spread},
      {"repetitions", measurement.samples},  {"calls_per_repetition", measurement.callsPerSample},
      {"processor", measurement.processor},  {"build_s", measurement.buildSeconds},
      {"library", measurement.library.hex()}};
}

// The first row at the place that a failure names; null when it names none of the module's.
const OpRow* rowAt(const Module& module, const Failure& failure) {
  const auto row = std::ranges::find_if(module.rows, [&](const OpRow& one) {
    return one.file == 0 && one.line == failure.line && one.column == failure.column;
  });
  return failure.line == 0 || row == module.rows.end() ? nullptr : &*row;
}

} // namespace

// The class is confined to one actor: measurements would disturb each other.
void CpuEstimator::describe(EstimatorClass<CpuEstimator>& c) {
  using Self = CpuEstimator;
  c.name("cpu").version(1).extends<ComputeEstimator>().measuresKernels().hitsNeedNoModule();
  c.help("compiles the module for this computer's processor and measures it with random data");
  c.option("warmup", &Self::warmup_, option::nonNegativeInteger)
      .defaultValue(2)
      .help("calls before the first that is timed");
  c.option("repetitions", &Self::repetitions_, option::positiveInteger)
      .defaultValue(10)
      .help("samples, at least; short functions are called several times for one");
  c.option("min_time_s", &Self::minSeconds_, option::nonNegative)
      .defaultValue(0.1)
      .help("samples are taken until they are so long together, in seconds");
  c.option("statistic", &Self::setStatistic, option::oneOf({"median", "min", "mean"}))
      .defaultValue("median")
      .help("what becomes of the samples");
  c.option("seed", &Self::seed_, option::nonNegativeInteger)
      .defaultValue(0)
      .help("of the random values that go in");
  c.option("arch", &Self::arch_, option::text)
      .defaultValue("native")
      .help("processor to compile for: native, x86-64-v3, skylake-avx512, ...");
  c.option("entry", &Self::entry_, option::text)
      .defaultValue("")
      .help("function to measure; without one main, or else every public function in order");
  c.option("timeout_s", &Self::timeout_, option::positive)
      .defaultValue(600.0)
      .doesNotInfluenceResult()
      .help("deadline of building and measuring one module, in seconds");
}

void CpuEstimator::setStatistic(const Json& value) {
  choice_ = value == "min" ? Choice::Least : value == "mean" ? Choice::Mean : Choice::Median;
}

double CpuEstimator::chosen(const Measurement& measurement) const {
  switch (choice_) {
  case Choice::Least:
    return measurement.least;
  case Choice::Mean:
    return measurement.mean;
  case Choice::Median:
    break;
  }
  return measurement.median;
}

Measurement CpuEstimator::measured(const Module& module, const ModuleSource& source) {
  MeasureRequest request;
  request.text = source.text();
  request.path = source.path;
  request.entry = entry_;
  request.warmup = warmup_;
  request.repetitions = repetitions_;
  request.minSeconds = minSeconds_;
  request.seed = static_cast<uint64_t>(seed_);
  request.arch = arch_;
  request.folder = kernelFolder();
  request.timeoutSeconds = timeout_;
  request.stop = stopToken();
  try {
    latest_ = kernels().measure(request);
  } catch (const ItemError& error) {
    if (const OpRow* row = rowAt(module, error.failure()))
      blame(row->op);
    throw;
  }
  addMeasurement(statistics().root().container("measurements"), latest_);
  return latest_;
}

ModuleResult CpuEstimator::wholeModuleResult(const Module& module, const ModuleSource& source) {
  const Measurement measurement = measured(module, source);
  ModuleResult result;
  result.runtime = chosen(measurement);
  // It was run as a whole: nothing of it is left out.
  result.totalRuns = operationCount(module);
  result.coveredRuns = result.totalRuns;
  result.metadata = {{"measurement", metadataOf(measurement)}};
  return result;
}

void CpuEstimator::addRunStatisticsTo(StatisticsTree& tree, const ModuleResult& result) const {
  ComputeEstimator::addRunStatisticsTo(tree, result);
  addMeasurement(tree.root().container("measurements"), latest_);
}

} // namespace nocturne
