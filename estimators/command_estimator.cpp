#include "estimators/command_estimator.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include <nlohmann/json.hpp>

namespace nocturne {

namespace {

namespace fs = std::filesystem;

ModuleResult timed(double seconds, const Json& samples, const Module& module) {
  ModuleResult result;
  result.runtime = seconds;
  for (const double runs : module.opRuns)
    result.totalRuns += runs;
  result.coveredRuns = result.totalRuns;
  result.metadata = {{"samples_s", samples}};
  return result;
}

std::string absolutePath(const std::string& path) {
  std::error_code error;
  const fs::path full = fs::absolute(path, error);
  return error ? path : full.string();
}

// An argument of the benchmark: its type, filled with ones.
std::string splat(const TensorType& type) {
  return type.text() + "=1";
}

std::string textAt(const Json& object, const char* key, const char* otherwise) {
  const auto place = object.find(key);
  if (place == object.end())
    return otherwise;
  if (!place->is_string())
    failTool("the benchmark program's report has a " + std::string(key) + " that is no text");
  return place->get<std::string>();
}

double reportedSeconds(const Json& run) {
  const auto time = run.find("real_time");
  if (time == run.end() || !time->is_number())
    failTool("the benchmark program's report has a run without real_time");
  const std::string unit = textAt(run, "time_unit", "ns");
  const double factor = secondsPerUnit(unit);
  if (factor == 1 && unit != "s")
    failTool("the benchmark program's report has times in an unknown unit: " + unit);
  return checkedTime(time->get<double>(), factor);
}

} // namespace

std::vector<double> benchmarkTimes(const std::string& output) {
  const Json json = Json::parse(output, nullptr, false);
  if (!json.is_object() || !json.contains("benchmarks") || !json["benchmarks"].is_array())
    failTool("the benchmark program wrote no report");
  std::vector<double> times;
  for (const Json& run : json["benchmarks"]) {
    if (!run.is_object() || textAt(run, "run_type", "iteration") != "iteration")
      continue;
    if (run.contains("error_message"))
      failTool("the benchmark failed: " + run["error_message"].dump());
    times.push_back(reportedSeconds(run));
  }
  if (times.empty())
    failTool("the benchmark program's report has no run");
  return times;
}

double summarised(std::vector<double> samples, bool dropFirst, SampleSummary how) {
  if (dropFirst && samples.size() > 1)
    samples.erase(samples.begin());
  std::sort(samples.begin(), samples.end());
  const size_t middle = samples.size() / 2;
  switch (how) {
  case SampleSummary::Least:
    return samples.front();
  case SampleSummary::Median:
    return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
  case SampleSummary::Mean:
    break;
  }
  // Sorted, so that the sum does not depend on the order of the runs.
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

void CommandEstimator::describe(EstimatorClass<CommandEstimator>& c) {
  using Self = CommandEstimator;
  c.name("command").version(1).extends<ComputeEstimator>();
  c.help("runs a program for each module and reads the time from its output");
  c.option("command", &Self::command_, option::programWords)
      .help("program and arguments; {module} is the module's file, {scratch} a folder of its own");
  c.option("prepare", &Self::prepare_, option::words)
      .defaultValue(Json::array())
      .help("a program to run once before, such as a compiler");
  c.option("pattern", &Self::pattern_, option::expression)
      .defaultValue("")
      .help("POSIX extended regular expression; its first group is the time, each match a sample");
  c.option("pointer", &Self::pointer_, option::jsonPointer)
      .defaultValue("")
      .help("JSON pointer to the time, or to an array of times, in standard output");
  c.option("unit", &Self::setUnit, option::oneOf({"s", "ms", "us", "ns"}))
      .defaultValue("s")
      .help("unit of the time");
  c.option("repetitions", &Self::repetitions_, option::positiveInteger)
      .defaultValue(1)
      .help("how often the program is run");
  c.option("drop_first", &Self::dropFirst_, option::boolean)
      .defaultValue(true)
      .help("leave out the first of several samples: it warms up");
  c.option("summary", &Self::setSummary, option::oneOf({"mean", "median", "least"}))
      .defaultValue("mean")
      .help("what becomes of the samples");
  c.option("timeout_s", &Self::timeout_, option::positive)
      .defaultValue(600.0)
      .doesNotInfluenceResult()
      .help("deadline of each run, in seconds");
  c.option("largest_output_bytes", &Self::largestOutput_, option::positive)
      .defaultValue(16777216)
      .doesNotInfluenceResult()
      .help("a program that writes more is stopped");
  c.initHook(&Self::checkSource);
}

void CommandEstimator::setUnit(const Json& value) {
  secondsPerUnit_ = secondsPerUnit(value.get<std::string>());
}

void CommandEstimator::setSummary(const Json& value) {
  summary_ = value == "median"  ? SampleSummary::Median
             : value == "least" ? SampleSummary::Least
                                : SampleSummary::Mean;
}

void CommandEstimator::checkSource() {
  if (pattern_.empty() == pointer_.empty())
    throw UsageError("command needs one of \"pattern\" and \"pointer\"");
}

ModuleResult CommandEstimator::wholeModuleResult(const Module& module, const ModuleSource& source) {
  const TemporaryFolder scratch;
  const ProgramLimits limits = limitsOf(stopToken(), timeout_, largestOutput_);
  const Placeholders values = {{"module", absolutePath(source.path)}, {"scratch", scratch.path()}};
  if (!prepare_.empty())
    runStep(filledIn(prepare_, values), scratch, limits);
  std::vector<double> samples;
  for (int64_t run = 0; run < repetitions_; ++run) {
    const ProgramResult result = runStep(filledIn(command_, values), scratch, limits);
    const std::vector<double> more = timesIn(result, {pattern_, pointer_, secondsPerUnit_});
    samples.insert(samples.end(), more.begin(), more.end());
  }
  return timed(summarised(samples, dropFirst_, summary_), samples, module);
}

void XlaEstimator::describe(EstimatorClass<XlaEstimator>& c) {
  using Self = XlaEstimator;
  c.name("xla").version(1).extends<ComputeEstimator>();
  c.help("runs the module with XLA's hlo_runner_main on this computer");
  c.listedUnlessOptionsHelp([] { return missingPrograms({"xla-translate", "hlo_runner_main"}); });
  c.option("xla_translate_path", &Self::translate_, option::text)
      .defaultValue("xla-translate")
      .help("the program that turns StableHLO into HLO text");
  c.option("hlo_runner_main_path", &Self::runner_, option::text)
      .defaultValue("hlo_runner_main")
      .help("the program that runs HLO text");
  c.option("repetitions", &Self::repetitions_, option::positiveInteger)
      .defaultValue(5)
      .help("timed runs; the first is left out");
  c.option("timeout_s", &Self::timeout_, option::positive)
      .defaultValue(600.0)
      .doesNotInfluenceResult()
      .help("deadline of each program, in seconds");
}

ModuleResult XlaEstimator::wholeModuleResult(const Module& module, const ModuleSource& source) {
  const TemporaryFolder scratch;
  const ProgramLimits limits = limitsOf(stopToken(), timeout_);
  const std::string hlo = scratch.path() + "/module.hlo";
  runStep({translate_, "--stablehlo-to-hlo-text", "-o", hlo, absolutePath(source.path)}, scratch,
          limits);
  if (!fs::exists(hlo))
    failTool(translate_ + " wrote no HLO text");
  const ProgramResult result =
      runStep({runner_, "--num_repeats=" + std::to_string(repetitions_), "--profile_execution=true",
               "--hlo_argument_mode=uninitialized", hlo},
              scratch, limits);
  const std::vector<double> samples =
      timesIn(result, {"Execution time,.*duration=([0-9.eE+-]+)", "", 1e-9});
  return timed(summarised(samples, true, SampleSummary::Mean), samples, module);
}

void IreeEstimator::describe(EstimatorClass<IreeEstimator>& c) {
  using Self = IreeEstimator;
  c.name("iree").version(1).extends<ComputeEstimator>();
  c.help("compiles the module with IREE and benchmarks it on this computer");
  c.listedUnlessOptionsHelp(
      [] { return missingPrograms({"iree-compile", "iree-benchmark-module"}); });
  c.option("iree_compile", &Self::compiler_, option::text)
      .defaultValue("iree-compile")
      .help("IREE's compiler");
  c.option("iree_benchmark", &Self::benchmark_, option::text)
      .defaultValue("iree-benchmark-module")
      .help("IREE's benchmark program");
  c.option("target_backend", &Self::backend_, option::text)
      .defaultValue("llvm-cpu")
      .help("what to compile for");
  c.option("device", &Self::device_, option::text)
      .defaultValue("local-task")
      .help("what to run on");
  c.option("mlir_function_name", &Self::function_, option::text)
      .defaultValue("main")
      .help("the function to call");
  c.option("compile_arguments", &Self::compilerArguments_, option::words)
      .defaultValue(Json::array())
      .help("further arguments of the compiler");
  c.option("run_arguments", &Self::benchmarkArguments_, option::words)
      .defaultValue(Json::array())
      .help("further arguments of the benchmark program");
  c.option("repetitions", &Self::repetitions_, option::positiveInteger)
      .defaultValue(3)
      .help("repetitions of the benchmark; the first of several is left out");
  c.option("timeout_s", &Self::timeout_, option::positive)
      .defaultValue(600.0)
      .doesNotInfluenceResult()
      .help("deadline of each program, in seconds");
}

ModuleResult IreeEstimator::wholeModuleResult(const Module& module, const ModuleSource& source) {
  const TemporaryFolder scratch;
  const ProgramLimits limits = limitsOf(stopToken(), timeout_);
  const std::string compiled = scratch.path() + "/module.vmfb";
  std::vector<std::string> compile = {compiler_, absolutePath(source.path),
                                      "--iree-hal-target-backends=" + backend_, "-o=" + compiled};
  compile.insert(compile.end(), compilerArguments_.begin(), compilerArguments_.end());
  runStep(compile, scratch, limits);
  if (!fs::exists(compiled))
    failTool(compiler_ + " wrote no module");
  std::vector<std::string> run = {benchmark_,
                                  "--device=" + device_,
                                  "--module=" + compiled,
                                  "--function=" + function_,
                                  "--benchmark_format=json",
                                  "--benchmark_repetitions=" + std::to_string(repetitions_)};
  for (const TensorType& argument : module.arguments)
    run.push_back("--input=" + splat(argument));
  run.insert(run.end(), benchmarkArguments_.begin(), benchmarkArguments_.end());
  const ProgramResult result = runStep(run, scratch, limits);
  std::vector<double> samples = benchmarkTimes(result.output);
  return timed(summarised(samples, true, SampleSummary::Mean), samples, module);
}

} // namespace nocturne
