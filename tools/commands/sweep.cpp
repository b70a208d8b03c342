// nocturne sweep
#include <filesystem>
#include <thread>

#include <malloc.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "actors/run_sweep.h"
#include "compiler/reader/module_reader.h"
#include "storage/result_cache.h"
#include "storage/run_record.h"
#include "tools/commands.h"
#include "tools/exit_codes.h"
#include "tools/human.h"
#include "tools/progress_line.h"
#include "tools/report/report.h"
#include "tools/report/summary_json.h"
#include "tools/report/summary_text.h"
#include "tools/settings.h"
#include "tools/version.h"

namespace nocturne::tools {

namespace {

namespace fs = std::filesystem;

// Each has a thread of its own; no machine has more use for them.
constexpr int kMostJobs = 1024;

// A single .json file is a specification.
bool isSpecification(const std::vector<std::string>& paths) {
  return paths.size() == 1 && fs::path(paths.front()).extension() == ".json" &&
         !fs::is_directory(paths.front());
}

// Those of the specification first.
std::vector<std::string> pluginsFor(const SweepArguments& arguments) {
  std::vector<std::string> plugins;
  if (isSpecification(arguments.paths))
    plugins = pluginsOf(arguments.paths.front());
  plugins.insert(plugins.end(), arguments.plugins.begin(), arguments.plugins.end());
  return plugins;
}

SweepPlan planFromSpecification(const SweepArguments& arguments, const PlanInputs& inputs) {
  if (!arguments.hardware.empty() || !arguments.estimators.empty())
    throw UsageError("--hardware and --estimator are said by the specification " +
                     arguments.paths.front());
  return planFromFile(arguments.paths.front(), inputs.sources());
}

SweepPlan planFromWords(const SweepArguments& arguments, const PlanInputs& inputs) {
  if (arguments.hardware.empty())
    throw UsageError("sweep: --hardware is missing; nocturne hardware list shows what there is");
  std::vector<std::string> estimators = arguments.estimators;
  if (estimators.empty())
    estimators = {"roofline"};
  return planFromArguments(arguments.paths, arguments.hardware, estimators, inputs.sources());
}

// The cache stays under the output folder when only that one moves.
void applyDirectories(SweepPlan& plan, const SweepArguments& arguments) {
  const bool follows = plan.cacheDir == plan.outputDir + "/cache";
  if (arguments.outputDir)
    plan.outputDir = *arguments.outputDir;
  if (arguments.cacheDir)
    plan.cacheDir = *arguments.cacheDir;
  else if (follows)
    plan.cacheDir = plan.outputDir + "/cache";
}

SweepPlan makePlan(const SweepArguments& arguments, const PlanInputs& inputs) {
  if (arguments.disableCache && arguments.inMemoryOnlyCache)
    throw UsageError("--disable-cache and --in-memory-only-cache exclude each other");
  SweepPlan plan = isSpecification(arguments.paths) ? planFromSpecification(arguments, inputs)
                                                    : planFromWords(arguments, inputs);
  applyDirectories(plan, arguments);
  if (arguments.disableCache)
    plan.cacheMode = CacheMode::Disabled;
  if (arguments.inMemoryOnlyCache)
    plan.cacheMode = CacheMode::InMemory;
  applyAssumptions(plan, arguments.assume);
  const EstimatorLookup lookup = inputs.registry().lookup();
  applySettings(plan, arguments.settings, lookup);
  plan.validate(lookup);
  return plan;
}

int jobCount(const SweepArguments& arguments) {
  if (!arguments.jobs)
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (*arguments.jobs < 1 || *arguments.jobs > kMostJobs)
    throw UsageError("--jobs: expected a number from 1 to " + std::to_string(kMostJobs));
  return *arguments.jobs;
}

std::string hostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

OrderedJson estimatorsJson(const SweepPlan& plan, const EstimatorRegistry& registry) {
  OrderedJson list = OrderedJson::array();
  for (const EstimatorEntry& entry : plan.estimators) {
    const EstimatorDescription& description = *registry.find(entry.name);
    OrderedJson json;
    json["name"] = description.name;
    json["versions"] = OrderedJson::object();
    for (const auto& [name, number] : description.versions)
      json["versions"][name] = number;
    if (!description.environment.empty())
      json["environment"] = description.environment;
    json["confined_to_one_actor"] = !description.allowMultiprocess;
    if (std::find(list.begin(), list.end(), json) == list.end())
      list.push_back(std::move(json));
  }
  return list;
}

Provenance makeProvenance(const SweepPlan& plan, const EstimatorRegistry& registry,
                          const ModuleReader& reader, int jobs, const Session& session) {
  Provenance provenance;
  provenance.inputs["reader"] = reader.keyText();
  provenance.inputs["estimators"] = estimatorsJson(plan, registry);
  provenance.process["jobs"] = jobs;
  provenance.process["host"] = hostName();
  provenance.process["command"] = session.commandText;
  return provenance;
}

int exitCodeOf(const SweepOutcome& outcome, uint64_t failedItems, int signal) {
  switch (outcome.kind) {
  case SweepOutcome::Kind::Complete:
  case SweepOutcome::Kind::Failed:
    break;
  case SweepOutcome::Kind::Interrupted:
    return signal == 0 ? kInterrupted : 128 + signal;
  case SweepOutcome::Kind::StoppedByFailFast:
  case SweepOutcome::Kind::StoppedByStorage:
  case SweepOutcome::Kind::StoppedByRestarts:
    return kStopped;
  case SweepOutcome::Kind::Broken:
    return kBug;
  }
  return failedItems > 0 ? kFailedItems : kOk;
}

// Why the run ended early and how to go on; nothing for a run that reached its end.
void tellEnd(const SweepOutcome& outcome, Session& session) {
  if (outcome.kind == SweepOutcome::Kind::Complete || outcome.kind == SweepOutcome::Kind::Failed)
    return;
  const uint64_t done = outcome.ok + outcome.failed + outcome.earlier;
  session.terminal.line("nocturne: " + outcome.message);
  session.terminal.line(withCommas(done) + " of " + withCommas(done + outcome.notRun) +
                        " items are done and safe; the same command goes on from there:");
  session.terminal.line("  " + session.commandText);
}

void printReport(const Report& report, const SweepOutcome& outcome, int code, Session& session) {
  if (session.common.json) {
    OrderedJson json = summaryJson(report.facts, report.summary, report.statistics);
    json["timing"] = timingJson(report.facts, report.counts, report.statistics);
    json["files"] = {{"results.csv", report.files.csv},
                     {"results.jsonl", report.files.jsonl},
                     {"summary.json", report.files.summary},
                     {"timing.json", report.files.timing}};
    if (!report.files.events.empty())
      json["files"]["events.json"] = report.files.events;
    json["message"] = outcome.message;
    json["exit_code"] = code;
    session.out << indentedText(json);
  } else if (!session.common.quiet) {
    session.out << summaryText(report);
  }
}

void printPlan(const SweepPlan& plan, int jobs, Session& session) {
  if (!session.common.json) {
    session.out << planText(plan, jobs);
    return;
  }
  OrderedJson json;
  json["plan"] = OrderedJson(plan.toJson());
  json["modules"] = OrderedJson::array();
  for (const ModuleFile& module : plan.modules)
    json["modules"].push_back(module.name);
  json["points"] = plan.pointCount();
  json["items"] = plan.pointCount() * plan.modules.size();
  json["jobs"] = jobs;
  session.out << indentedText(json);
}

// The run itself, with its record open until the report is written, so that no other run can come
// between.
int runPlan(const SweepPlan& plan, const SweepArguments& arguments, const PlanInputs& inputs,
            Session& session) {
  const int jobs = jobCount(arguments);
  // A few helper threads allocate little: they need no arena of their own.
  mallopt(M_ARENA_MAX, jobs + 2);
  compiler::FileModuleReader reader(compiler::readerOptions(plan.assume));
  const OpenedRun run =
      openRunRecord(plan.outputDir, plan, std::string(version()),
                    toText(makeProvenance(plan, inputs.registry(), reader, jobs, session)));
  std::vector<std::string> warnings = run.warnings;
  OpenedCache cache = openResultCache(plan.cacheDir, plan.cacheMode, warnings);
  for (const std::string& warning : warnings)
    spdlog::warn("{}", warning);
  if (plan.cacheMode == CacheMode::OnDisk)
    inputs.kernels().keepIn(fs::absolute(plan.cacheDir) / "kernels");
  if (run.resumed && !session.common.quiet)
    session.terminal.line("going on with the run in " + plan.outputDir);

  SweepOutcome outcome;
  {
    ProgressLine progress(session.terminal, session.common.quiet);
    SweepControl control;
    control.jobs = jobs;
    control.failFast = arguments.failFast;
    control.stop = session.stop;
    outcome =
        runSweep(plan, {reader, inputs.registry(), *cache.store, *run.record, &progress}, control);
  }
  tellEnd(outcome, session);
  // The report needs none of it, and would come on top.
  cache.store.reset();
  malloc_trim(0);
  RunReader record(plan.outputDir);
  const uint64_t failedItems = record.counts().failed;
  const int code = exitCodeOf(outcome, failedItems, session.signal());
  try {
    const Report report = writeReport(record, plan.outputDir);
    run.record->markReported();
    printReport(report, outcome, code, session);
  } catch (const StorageError& error) {
    if (code != kStopped)
      throw;
    // The disk was full before; what is committed can be reported later.
    spdlog::warn("no report: {}; nocturne report {} makes it later", error.what(), plan.outputDir);
    if (session.common.json) {
      OrderedJson json;
      json["message"] = outcome.message;
      json["exit_code"] = code;
      session.out << indentedText(json);
    }
  }
  return code;
}

} // namespace

int sweep(const SweepArguments& arguments, Session& session) {
  const PlanInputs inputs(pluginsFor(arguments));
  const SweepPlan plan = makePlan(arguments, inputs);
  if (arguments.dryRun) {
    printPlan(plan, jobCount(arguments), session);
    return kOk;
  }
  return runPlan(plan, arguments, inputs, session);
}

} // namespace nocturne::tools
