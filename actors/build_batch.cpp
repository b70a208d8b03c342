#include "actors/build_batch.h"

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <thread>

#include <sys/random.h>
#include <sys/resource.h>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/atom.hpp>
#include <caf/io/middleman.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include "actors/build_door.h"
#include "actors/build_supervisor.h"
#include "actors/build_worker.h"
#include "actors/worker_process.h"
#include "engine/file_bytes.h"

namespace nocturne {

namespace {

using compiler::BatchOptions;
using compiler::BatchProgress;
using compiler::BatchResult;
using compiler::BuildDriver;
using compiler::BuildOptions;
using compiler::BuildReport;
using compiler::BuildState;
using compiler::failedReport;
using compiler::ModuleSource;
using Clock = std::chrono::steady_clock;

[[noreturn]] void failTool(const std::string& message) {
  throw ItemError({FailureKind::ToolFailed, message, "", 0, 0});
}

std::string randomToken() {
  std::array<unsigned char, 32> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    failTool("the system gives no random numbers");
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string token;
  for (const unsigned char byte : bytes)
    token.append({kDigits[byte >> 4], kDigits[byte & 15]});
  return token;
}

// What the supervisor is to do, and which of the requests it is about.
struct Preparation {
  std::vector<compiler::BatchItem> items;
  std::vector<BuildTask> tasks;     // of the items
  std::vector<size_t> requests;     // of the items
  std::vector<BuildReport> reports; // of the requests; those that cannot be read are there already
};

BuildOptions withinDeadline(const BuildOptions& options, const BuildWorkerOptions& workers) {
  BuildOptions bounded = options;
  // Who waits for another builder says whom he waited for; who is killed says nothing.
  if (workers.deadline.count() > 0)
    bounded.lockTimeout = std::min(bounded.lockTimeout, workers.deadline * 9 / 10);
  return bounded;
}

// Texts are read one after the other and not kept: there may be many.
Preparation prepare(BuildDriver& driver, std::span<const BuildRequest> requests,
                    std::span<const std::string> outputDirs, const BuildOptions& options,
                    const BatchOptions& batch) {
  Preparation made;
  made.reports.resize(requests.size());
  const BuildSettings settings = toSettings(options);
  for (size_t i = 0; i < requests.size(); ++i) {
    const BuildRequest& request = requests[i];
    ModuleSource source{request.name, request.text};
    try {
      if (!request.path.empty())
        source.text = readFile(request.path);
    } catch (const ItemError& error) {
      made.reports[i] = failedReport(error.failure());
      continue;
    }
    BuildTask task;
    task.name = request.name;
    task.path = request.path;
    if (request.path.empty())
      task.text = request.text;
    else
      task.contentHash = hashBytes(source.text);
    task.outputDir = outputDirs[i];
    task.settings = settings;
    const uint64_t weight =
        batch.memoryOf ? batch.memoryOf(source) : compiler::usualBuildMemory(source);
    made.items.push_back({driver.key({&source, 1}, options), outputDirs[i], weight, request.name});
    made.tasks.push_back(std::move(task));
    made.requests.push_back(i);
  }
  return made;
}

// Each process takes a few of our files: what it may say, its end, its connection. More of them
// than there are files for would fail, and so would the connections of all others.
size_t mostWorkers() {
  constexpr rlim_t kOurs = 24, kOfEach = 6;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<size_t>::max();
  return std::max<size_t>(1, (std::max(files.rlim_cur, kOurs) - kOurs) / kOfEach);
}

class ProcessOfWorker final : public BuildWorker {
public:
  ProcessOfWorker(std::vector<std::string> command, const BuildWorkerPass& pass,
                  const std::function<void(const std::string&)>& ended)
      : process_(std::move(command), toText(pass),
                 [ended](const ProcessEnd& end) { ended(end.text); }) {}
  void kill() override { process_.kill(); }

private:
  WorkerProcess process_;
};

class WorkerBatch {
public:
  WorkerBatch(const BatchOptions& batch, const BuildWorkerOptions& workers,
              std::stop_token buildStop, Preparation prepared)
      : batch_(batch), workers_(workers), buildStop_(std::move(buildStop)),
        prepared_(std::move(prepared)), unread_(prepared_.reports.size() - prepared_.items.size()),
        queue_(std::make_shared<BuildQueue>(std::move(prepared_.items), batch.memoryBytes)) {}

  BatchResult run() {
    std::string problem;
    if (!queue_->finished())
      problem = build();
    if (problem_)
      std::rethrow_exception(problem_);
    BatchResult result;
    result.progress = progressOf(*queue_);
    std::vector<BuildReport> reports = queue_->takeReports();
    for (size_t i = 0; i < reports.size(); ++i)
      prepared_.reports[prepared_.requests[i]] = std::move(reports[i]);
    result.reports = std::move(prepared_.reports);
    if (!problem.empty())
      giveUp(result, problem);
    return result;
  }

private:
  // Why the batch ended early; "" when it did not, or was told to.
  std::string build() {
    caf::actor_system_config config;
    config.set("scheduler.max-threads", size_t{2});
    config.set("scheduler.policy", caf::atom("sharing"));
    config.load<caf::io::middleman>();
    addBuildMessageTypes(config);
    caf::actor_system system{config};
    const std::string token = randomToken();
    // Set before the supervisor is asked to begin, which is when it starts workers.
    auto command = std::make_shared<std::vector<std::string>>(workers_.command);
    auto port = std::make_shared<uint16_t>(0);
    BuildSupervisorHandle supervisor =
        system.spawn(buildSupervisorActor,
                     setup([command, port, token](WorkerNumber number, const Ended& ended) {
                       return std::make_unique<ProcessOfWorker>(
                           *command, BuildWorkerPass{*port, number, token}, ended);
                     }));
    BuildDoorHandle door = system.spawn(buildDoorActor, token, supervisor);
    const auto bound = system.middleman().publish(door, 0, "127.0.0.1");
    if (!bound) {
      caf::anon_send_exit(supervisor, caf::exit_reason::user_shutdown);
      caf::anon_send_exit(door, caf::exit_reason::user_shutdown);
      failTool("no port for workers: " + system.render(bound.error()));
    }
    *port = *bound;
    command->insert(command->end(), {"--connect", "127.0.0.1:" + std::to_string(*bound)});
    std::string problem = waitFor(system, supervisor);
    caf::anon_send_exit(door, caf::exit_reason::user_shutdown);
    return problem;
  }

  using Ended = std::function<void(const std::string&)>;

  BuildSupervisorSetup setup(BuildWorkerFactory factory) {
    BuildSupervisorSetup setup;
    setup.queue = queue_;
    setup.tasks = std::move(prepared_.tasks);
    const size_t wanted =
        batch_.jobs == 0 ? std::max(1U, std::thread::hardware_concurrency()) : batch_.jobs;
    setup.workers = std::min(wanted, mostWorkers());
    setup.deadline = workers_.deadline;
    setup.startTime = workers_.startTime;
    setup.grace = workers_.grace;
    setup.restartLimit = workers_.restartLimit;
    setup.startWorker = std::move(factory);
    if (batch_.progress)
      setup.onProgress = [this](const BuildQueue& queue) { tell(queue); };
    return setup;
  }

  std::string waitFor(caf::actor_system& system, const BuildSupervisorHandle& supervisor) {
    std::string problem;
    const auto stop = [&] { caf::anon_send(supervisor, StopRequest{}); };
    const std::stop_callback onStop(batch_.stop, stop);
    const std::stop_callback onBuildStop(buildStop_, stop);
    const std::stop_callback onProblem(stop_.get_token(), stop);
    caf::scoped_actor self{system};
    self->request(supervisor, caf::infinite, BuildsRequest{})
        .receive([&](const BuildsOver& over) { problem = over.problem; },
                 [&](caf::error& error) {
                   problem = "the supervisor of builds died: " + system.render(error);
                 });
    return problem;
  }

  // In the supervisor's thread.
  void tell(const BuildQueue& queue) {
    if (problem_)
      return;
    try {
      batch_.progress(progressOf(queue));
    } catch (...) {
      problem_ = std::current_exception();
      stop_.request_stop();
    }
  }

  BatchProgress progressOf(const BuildQueue& queue) const {
    const std::chrono::duration<double> passed = Clock::now() - start_;
    return compiler::progressOf(queue.ledger(), passed.count(), unread_);
  }

  // What nobody could build is not what somebody cancelled.
  static void giveUp(BatchResult& result, const std::string& problem) {
    for (BuildReport& report : result.reports) {
      if (report.state != BuildState::Cancelled)
        continue;
      report = failedReport({FailureKind::Crashed, problem, "", 0, 0});
      ++result.progress.failed;
    }
    result.progress.cancelled = 0;
    result.progress.finished = result.progress.total;
  }

  const BatchOptions& batch_;
  const BuildWorkerOptions& workers_;
  const std::stop_token buildStop_; // of the builds' own options
  Preparation prepared_;
  const size_t unread_;
  const Clock::time_point start_ = Clock::now();
  const std::shared_ptr<BuildQueue> queue_;
  std::exception_ptr problem_; // what the listener threw
  std::stop_source stop_;
};

} // namespace

BatchResult buildBatchInWorkers(BuildDriver& driver, std::span<const BuildRequest> requests,
                                std::span<const std::string> outputDirs,
                                const BuildOptions& options, const BatchOptions& batch,
                                const BuildWorkerOptions& workers) {
  compiler::checkBatch(requests.size(), outputDirs, options);
  const BuildOptions bounded = withinDeadline(options, workers);
  return WorkerBatch(batch, workers, options.stop,
                     prepare(driver, requests, outputDirs, bounded, batch))
      .run();
}

} // namespace nocturne
