#include "compiler/drivers/batch.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "compiler/drivers/batch_ledger.h"

namespace nocturne::compiler {

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kMemoryOfBuild = 64 << 20;
constexpr uint64_t kMemoryOfLetter = 100;

// Threads that take jobs from one ledger.
class Batch {
public:
  Batch(BuildDriver& driver, std::span<const ModuleSource> modules, BatchLedger ledger,
        const BuildOptions& options, const BatchOptions& batch)
      : driver_(driver), modules_(modules), options_(options), batch_(batch),
        ledger_(std::move(ledger)) {
    options_.stop = stop_.get_token();
  }

  BatchResult run(std::span<const std::string> outputDirs) {
    outputDirs_ = outputDirs;
    {
      // Whoever stops the batch, or a build's own token, stops all of it.
      const std::stop_callback one(batch_.stop, [this] { stop(); });
      const std::stop_callback other(buildStop_, [this] { stop(); });
      std::vector<std::jthread> workers;
      const size_t wanted = batch_.jobs == 0 ? std::thread::hardware_concurrency() : batch_.jobs;
      const size_t count = std::clamp<size_t>(wanted, 1, std::max<size_t>(ledger_.size(), 1));
      for (size_t i = 0; i < count; ++i)
        workers.emplace_back([this] { work(); });
    }
    if (problem_)
      std::rethrow_exception(problem_);
    BatchResult result;
    result.progress = progress();
    result.reports = ledger_.takeReports();
    return result;
  }

private:
  void stop() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
    }
    stop_.request_stop();
    changed_.notify_all();
  }

  std::optional<BatchLedger::Job> next() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (stopping_)
        ledger_.cancel();
      if (std::optional<BatchLedger::Job> job = ledger_.next())
        return job;
      if (ledger_.finished())
        return std::nullopt;
      changed_.wait(lock);
    }
  }

  BuildReport perform(const BatchLedger::Job& job) {
    try {
      BuildOptions options = options_;
      options.outputDir = outputDirs_[job.index];
      if (job.work == BatchLedger::Work::Build)
        return driver_.tryBuild(modules_[job.index], options);
      BuildOutcome source;
      {
        const std::scoped_lock lock(mutex_);
        source = ledger_.reports()[job.source].outcome;
      }
      return driver_.tryCopy(source, options);
    } catch (const std::exception& error) { // no memory
      return failedReport({FailureKind::Internal, error.what(), "", 0, 0});
    }
  }

  void work() {
    while (const std::optional<BatchLedger::Job> job = next()) {
      BuildReport report = perform(*job);
      {
        const std::scoped_lock lock(mutex_);
        ledger_.done(*job, std::move(report));
      }
      changed_.notify_all();
      tell();
    }
    changed_.notify_all();
  }

  // Listeners are told without the lock of the ledger, so that a slow one stops nobody who builds.
  void tell() {
    if (!batch_.progress)
      return;
    const std::scoped_lock turn(listener_);
    if (problem_)
      return;
    try {
      batch_.progress(progress());
    } catch (...) {
      problem_ = std::current_exception();
      stop();
    }
  }

  BatchProgress progress() {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const std::scoped_lock lock(mutex_);
    return progressOf(ledger_, seconds);
  }

  BuildDriver& driver_;
  const std::span<const ModuleSource> modules_;
  std::span<const std::string> outputDirs_;
  BuildOptions options_;
  const std::stop_token buildStop_ = options_.stop;
  const BatchOptions& batch_;
  const Clock::time_point start_ = Clock::now();
  std::stop_source stop_;

  std::mutex mutex_;
  std::condition_variable changed_;
  BatchLedger ledger_;    // guarded by mutex_
  bool stopping_ = false; // guarded by mutex_

  std::mutex listener_;
  std::exception_ptr problem_; // guarded by listener_
};

} // namespace

void checkBatch(size_t modules, std::span<const std::string> outputDirs,
                const BuildOptions& options) {
  if (modules != outputDirs.size())
    throw UsageError("a batch of " + std::to_string(modules) + " modules has " +
                     std::to_string(outputDirs.size()) + " output folders; each needs one");
  if (!options.outputDir.empty())
    throw UsageError("a batch takes its output folders from its list, not from the options");
  for (size_t i = 0; i < outputDirs.size(); ++i)
    if (outputDirs[i].empty())
      throw UsageError("output folder " + std::to_string(i) + " of the batch is empty");
}

uint64_t usualBuildMemory(const ModuleSource& module) {
  return kMemoryOfBuild + kMemoryOfLetter * module.text.size();
}

BatchProgress progressOf(const BatchLedger& ledger, double seconds, size_t failedBefore) {
  BatchProgress now;
  now.seconds = seconds;
  now.total = ledger.size() + failedBefore;
  now.finished = ledger.finishedCount() + failedBefore;
  now.built = ledger.count(BuildState::Built);
  now.reused = ledger.count(BuildState::Reused);
  now.failed = ledger.count(BuildState::Failed) + failedBefore;
  now.cancelled = ledger.count(BuildState::Cancelled);
  if (now.seconds > 0)
    now.perSecond = static_cast<double>(now.finished) / now.seconds;
  if (now.perSecond > 0)
    now.left = static_cast<double>(now.total - now.finished) / now.perSecond;
  return now;
}

BatchResult buildIrModuleBatch(BuildDriver& driver, std::span<const ModuleSource> modules,
                               std::span<const std::string> outputDirs, const BuildOptions& options,
                               const BatchOptions& batch) {
  checkBatch(modules.size(), outputDirs, options);
  std::vector<BatchItem> items;
  items.reserve(modules.size());
  for (size_t i = 0; i < modules.size(); ++i) {
    const uint64_t weight =
        batch.memoryOf ? batch.memoryOf(modules[i]) : usualBuildMemory(modules[i]);
    items.push_back(
        {driver.key(modules.subspan(i, 1), options), outputDirs[i], weight, modules[i].name});
  }
  Batch running(driver, modules, BatchLedger(std::move(items), batch.memoryBytes), options, batch);
  return running.run(outputDirs);
}

} // namespace nocturne::compiler
