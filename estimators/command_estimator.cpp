#include "estimators/command_estimator.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>

#include <nlohmann/json.hpp>
#include <regex.h>

#include "engine/number_text.h"

namespace nocturne {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void failTool(const std::string& message) {
  throw ItemError({FailureKind::ToolFailed, message, "", 0, 0});
}

// A folder for one estimate, gone with it.
class ScratchFolder {
public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "nocturne-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      failTool("no scratch folder: " + std::generic_category().message(errno));
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

private:
  std::string path_;
};

// A compiled POSIX extended expression. Unlike std::regex its matcher does not recurse, so that no
// output of a program can exhaust the stack.
class Pattern {
public:
  // Throws UsageError.
  explicit Pattern(const std::string& text) {
    const int problem = ::regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NEWLINE);
    if (problem != 0) {
      char reason[200];
      ::regerror(problem, &compiled_, reason, sizeof reason);
      throw UsageError("the regular expression \"" + text + "\" is refused: " + reason);
    }
    if (compiled_.re_nsub == 0) {
      ::regfree(&compiled_);
      throw UsageError("the regular expression \"" + text +
                       "\" needs a group (...) around the number");
    }
  }
  ~Pattern() { ::regfree(&compiled_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // What the first group matched, wherever the pattern matches.
  std::vector<std::string> groups(const std::string& text) const {
    std::vector<std::string> found;
    const char* here = text.c_str();
    regmatch_t match[2];
    int flags = 0;
    while (*here != '\0' && ::regexec(&compiled_, here, 2, match, flags) == 0) {
      if (match[1].rm_so >= 0)
        found.emplace_back(here + match[1].rm_so, here + match[1].rm_eo);
      here += std::max<regoff_t>(match[0].rm_eo, 1);
      flags = here[-1] == '\n' ? 0 : REG_NOTBOL;
    }
    return found;
  }

private:
  regex_t compiled_{};
};

double checkedTime(double value, double secondsPerUnit) {
  const double seconds = value * secondsPerUnit;
  if (!std::isfinite(seconds) || seconds <= 0)
    failTool("the program gave no time above zero: " + shortest(value));
  return seconds;
}

// A zero byte would end the text early for the matcher.
std::string withoutZeros(std::string text) {
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

std::vector<double> timesByPattern(const ProgramResult& result, const TimeSource& source) {
  const Pattern pattern(source.pattern);
  std::vector<double> times;
  for (const std::string& text : {result.output, result.errors})
    for (const std::string& group : pattern.groups(withoutZeros(text))) {
      const std::optional<double> value = parseNumber(group);
      if (!value)
        failTool("\"" + group.substr(0, 100) + "\" in the program's output is no number");
      times.push_back(checkedTime(*value, source.secondsPerUnit));
    }
  return times;
}

std::vector<double> timesByPointer(const ProgramResult& result, const TimeSource& source) {
  const Json json = Json::parse(result.output, nullptr, false);
  if (json.is_discarded())
    failTool("the program's output is no JSON");
  const Json::json_pointer pointer(source.pointer);
  if (!json.contains(pointer))
    failTool("the program's output has nothing at " + source.pointer);
  const Json& found = json.at(pointer);
  std::vector<double> times;
  for (const Json& value : found.is_array() ? found : Json::array({found})) {
    if (!value.is_number())
      failTool("what the program's output has at " + source.pointer + " is no number");
    times.push_back(checkedTime(value.get<double>(), source.secondsPerUnit));
  }
  return times;
}

Json programWords(const Json& value) {
  if (!value.is_array() || value.empty())
    throw UsageError("expected an array of texts, the program first");
  for (const Json& word : value)
    if (!word.is_string() || word.get_ref<const std::string&>().find('\0') != std::string::npos)
      throw UsageError("expected an array of texts, the program first");
  return value;
}

Json moreWords(const Json& value) {
  return value.is_array() && value.empty() ? value : programWords(value);
}

Json jsonPointer(const Json& value) {
  const std::string text = option::text(value).get<std::string>();
  try {
    static_cast<void>(Json::json_pointer(text));
  } catch (const Json::exception&) {
    throw UsageError("expected a JSON pointer such as /benchmarks/0/real_time");
  }
  return text;
}

Json expression(const Json& value) {
  const std::string text = option::text(value).get<std::string>();
  if (!text.empty())
    static_cast<void>(Pattern(text));
  return text;
}

void replaceAll(std::string& text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

std::vector<std::string> filledIn(std::vector<std::string> words, const std::string& module,
                                  const std::string& scratch) {
  for (std::string& word : words) {
    replaceAll(word, "{module}", module);
    replaceAll(word, "{scratch}", scratch);
  }
  return words;
}

ProgramLimits limitsOf(double timeoutSeconds) {
  ProgramLimits limits;
  constexpr double kLongest = 1e9; // seconds; thirty years
  limits.timeout =
      std::chrono::milliseconds(static_cast<int64_t>(std::min(timeoutSeconds, kLongest) * 1000));
  return limits;
}

// Runs one step; a failure is the item's.
ProgramResult step(const std::vector<std::string>& words, const ScratchFolder& scratch,
                   const ProgramLimits& limits) {
  ProgramResult result = runProgram(words, scratch.path(), limits);
  if (!result.succeeded())
    failTool(words.front() + ": " + result.problem());
  return result;
}

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

std::string missing(const std::vector<std::string>& programs) {
  for (const std::string& program : programs)
    if (findProgram(program).empty())
      return "there is no program " + program + " in $PATH";
  return {};
}

double secondsPerUnit(const std::string& unit) {
  return unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : unit == "ns" ? 1e-9 : 1;
}

// An argument of the benchmark: its type, filled with ones.
std::string splat(const TensorType& type) {
  return type.text() + "=1";
}

} // namespace

std::vector<double> timesIn(const ProgramResult& result, const TimeSource& source) {
  std::vector<double> times =
      source.pattern.empty() ? timesByPointer(result, source) : timesByPattern(result, source);
  if (times.empty())
    failTool("the program's output has no time");
  return times;
}

std::vector<double> benchmarkTimes(const std::string& output) {
  const Json json = Json::parse(output, nullptr, false);
  if (!json.is_object() || !json.contains("benchmarks") || !json["benchmarks"].is_array())
    failTool("the benchmark program wrote no report");
  std::vector<double> times;
  for (const Json& run : json["benchmarks"]) {
    if (!run.is_object() || run.value("run_type", "iteration") != "iteration")
      continue;
    if (run.contains("error_message"))
      failTool("the benchmark failed: " + run["error_message"].dump());
    const auto time = run.find("real_time");
    if (time == run.end() || !time->is_number())
      failTool("the benchmark program's report has a run without real_time");
    times.push_back(checkedTime(time->get<double>(), secondsPerUnit(run.value("time_unit", "ns"))));
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
  c.option("command", &Self::command_, programWords)
      .help("program and arguments; {module} is the module's file, {scratch} a folder of its own");
  c.option("prepare", &Self::prepare_, moreWords)
      .defaultValue(Json::array())
      .help("a program to run once before, such as a compiler");
  c.option("pattern", &Self::pattern_, expression)
      .defaultValue("")
      .help("POSIX extended regular expression; its first group is the time, each match a sample");
  c.option("pointer", &Self::pointer_, jsonPointer)
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
      .help("deadline of each run, in seconds");
  c.option("largest_output_bytes", &Self::largestOutput_, option::positive)
      .defaultValue(16777216)
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
  const ScratchFolder scratch;
  ProgramLimits limits = limitsOf(timeout_);
  limits.outputBytes = static_cast<size_t>(std::min(largestOutput_, 1e9));
  const std::string file = absolutePath(source.path);
  if (!prepare_.empty())
    step(filledIn(prepare_, file, scratch.path()), scratch, limits);
  std::vector<double> samples;
  for (int64_t run = 0; run < repetitions_; ++run) {
    const ProgramResult result = step(filledIn(command_, file, scratch.path()), scratch, limits);
    const std::vector<double> more = timesIn(result, {pattern_, pointer_, secondsPerUnit_});
    samples.insert(samples.end(), more.begin(), more.end());
  }
  return timed(summarised(samples, dropFirst_, summary_), samples, module);
}

void XlaEstimator::describe(EstimatorClass<XlaEstimator>& c) {
  using Self = XlaEstimator;
  c.name("xla").version(1).extends<ComputeEstimator>();
  c.help("runs the module with XLA's hlo_runner_main on this computer");
  c.listedUnlessOptionsHelp([] { return missing({"xla-translate", "hlo_runner_main"}); });
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
      .help("deadline of each program, in seconds");
}

ModuleResult XlaEstimator::wholeModuleResult(const Module& module, const ModuleSource& source) {
  const ScratchFolder scratch;
  const ProgramLimits limits = limitsOf(timeout_);
  const std::string hlo = scratch.path() + "/module.hlo";
  step({translate_, "--stablehlo-to-hlo-text", "-o", hlo, absolutePath(source.path)}, scratch,
       limits);
  if (!fs::exists(hlo))
    failTool(translate_ + " wrote no HLO text");
  const ProgramResult result =
      step({runner_, "--num_repeats=" + std::to_string(repetitions_), "--profile_execution=true",
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
  c.listedUnlessOptionsHelp([] { return missing({"iree-compile", "iree-benchmark-module"}); });
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
  c.option("compile_arguments", &Self::compilerArguments_, moreWords)
      .defaultValue(Json::array())
      .help("further arguments of the compiler");
  c.option("run_arguments", &Self::benchmarkArguments_, moreWords)
      .defaultValue(Json::array())
      .help("further arguments of the benchmark program");
  c.option("repetitions", &Self::repetitions_, option::positiveInteger)
      .defaultValue(3)
      .help("repetitions of the benchmark; the first of several is left out");
  c.option("timeout_s", &Self::timeout_, option::positive)
      .defaultValue(600.0)
      .help("deadline of each program, in seconds");
}

ModuleResult IreeEstimator::wholeModuleResult(const Module& module, const ModuleSource& source) {
  const ScratchFolder scratch;
  const ProgramLimits limits = limitsOf(timeout_);
  const std::string compiled = scratch.path() + "/module.vmfb";
  std::vector<std::string> compile = {compiler_, absolutePath(source.path),
                                      "--iree-hal-target-backends=" + backend_, "-o=" + compiled};
  compile.insert(compile.end(), compilerArguments_.begin(), compilerArguments_.end());
  step(compile, scratch, limits);
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
  const ProgramResult result = step(run, scratch, limits);
  std::vector<double> samples = benchmarkTimes(result.output);
  return timed(summarised(samples, true, SampleSummary::Mean), samples, module);
}

} // namespace nocturne
