// nocturne build
#include <algorithm>
#include <cmath>
#include <csignal>
#include <memory>

#include "actors/build_batch.h"
#include "compiler/codegen/module_generator.h"
#include "engine/file_bytes.h"
#include "engine/module_patterns.h"
#include "tools/build_report.h"
#include "tools/commands.h"
#include "tools/exit_codes.h"
#include "tools/memory_limit.h"
#include "tools/progress_line.h"

namespace nocturne::tools {

namespace {

using compiler::BatchOptions;
using compiler::BatchProgress;
using compiler::BatchResult;
using compiler::BuildDriver;
using compiler::BuildOptions;
using compiler::BuildReport;

BuildOptions buildOptions(const BuildArguments& arguments) {
  BuildOptions options;
  options.target = arguments.target;
  options.kind = compiler::outputKindFromString('.' + arguments.kind);
  options.force = arguments.force;
  options.keepIr = arguments.keepIr;
  // The same module at the usual level is the same build, said or not.
  if (arguments.level != BuildArguments().level)
    options.flags.push_back("--opt-level=" + std::to_string(arguments.level));
  if (arguments.generateWeights)
    options.flags.push_back("--generate-weights");
  return options;
}

// Three quarters of what there is: the rest is for everybody else.
uint64_t memoryForBuilds() {
  return availableMemory() / 4 * 3;
}

// Also what could not be read is a report.
BatchResult buildInProcess(BuildDriver& driver, const std::vector<ModuleFile>& modules,
                           const std::vector<std::string>& folders, const BuildOptions& options,
                           const BatchOptions& batch) {
  std::vector<BuildReport> reports(modules.size());
  std::vector<compiler::ModuleSource> sources;
  std::vector<std::string> sourceFolders;
  std::vector<size_t> places;
  for (size_t i = 0; i < modules.size(); ++i) {
    try {
      sources.push_back({modules[i].name, readFile(modules[i].path)});
      sourceFolders.push_back(folders[i]);
      places.push_back(i);
    } catch (const ItemError& error) {
      reports[i] = compiler::failedReport(error.failure());
    }
  }
  BatchResult result = buildIrModuleBatch(driver, sources, sourceFolders, options, batch);
  for (size_t i = 0; i < places.size(); ++i)
    reports[places[i]] = std::move(result.reports[i]);
  result.reports = std::move(reports);
  const size_t unread = modules.size() - places.size();
  result.progress.total += unread;
  result.progress.finished += unread;
  result.progress.failed += unread;
  return result;
}

BatchResult buildInWorkers(BuildDriver& driver, const std::vector<ModuleFile>& modules,
                           const std::vector<std::string>& folders, const BuildOptions& options,
                           const BatchOptions& batch, double deadline) {
  std::vector<BuildRequest> requests;
  for (const ModuleFile& module : modules)
    requests.push_back({module.name, module.path, ""});
  BuildWorkerOptions workers;
  workers.command = {"/proc/self/exe", "worker"};
  workers.deadline = std::chrono::milliseconds(static_cast<int64_t>(std::ceil(deadline * 1000)));
  return buildBatchInWorkers(driver, requests, folders, options, batch, workers);
}

int exitCode(const BatchResult& result, const Session& session) {
  if (session.signal() != 0 && result.progress.cancelled > 0)
    return session.signal() == SIGTERM ? kTerminated : kInterrupted;
  return result.succeeded() ? kOk : kFailedItems;
}

} // namespace

int build(const BuildArguments& arguments, Session& session) {
  const std::vector<ModuleFile> modules = expandModules(arguments.paths, ".");
  const std::vector<std::string> folders = buildFolders(modules, arguments.outputDir);
  const BuildOptions options = buildOptions(arguments);
  ProgressLine line(session.terminal, session.common.quiet);
  BatchOptions batch;
  batch.jobs = arguments.jobs ? static_cast<size_t>(*arguments.jobs) : 0;
  batch.memoryBytes = memoryForBuilds();
  batch.stop = session.stop;
  batch.progress = [&line](const BatchProgress& now) { line.onProgress(progressOf(now)); };
  BuildDriver driver(std::make_shared<compiler::ModuleGenerator>());
  const BatchResult result =
      arguments.inProcess
          ? buildInProcess(driver, modules, folders, options, batch)
          : buildInWorkers(driver, modules, folders, options, batch, arguments.deadline);
  session.terminal.clearStatus();
  if (session.common.json)
    session.out << indentedText(toJson(modules, result));
  else
    session.out << toText(modules, result, session.common.quiet);
  return exitCode(result, session);
}

} // namespace nocturne::tools
