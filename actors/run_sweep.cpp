#include "actors/run_sweep.h"

#include <thread>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/atom.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include "actors/cache_actor.h"
#include "actors/estimator_actor.h"
#include "actors/file_ahead.h"
#include "actors/progress_actor.h"
#include "actors/sweep_actors.h"
#include "estimators/registry.h"

namespace nocturne {

namespace {

// Tables of the modules used last; those in use come on top.
constexpr size_t kTableBytes = size_t{4} << 20;
constexpr size_t kKeptResults = 1 << 12;

class FilesOfPlan final : public FileFeed {
public:
  FilesOfPlan(const SweepPlan& plan, int threads) : ahead_(plan, threads) {}
  void start(std::vector<bool> wanted, uint64_t limit, SupervisorHandle to) override {
    ahead_.start(std::move(wanted), limit, [to](std::vector<FileInfo> files, bool last) {
      caf::anon_send(to, FilesReady{std::move(files), last});
    });
  }
  void allow(uint64_t limit) override { ahead_.allow(limit); }
  void stop() override { ahead_.stop(); }
  void finish() { ahead_.finish(); }

private:
  FileAhead ahead_;
};

size_t jobsOf(const SweepControl& control) {
  if (control.jobs > 0)
    return static_cast<size_t>(control.jobs);
  return std::max(1U, std::thread::hardware_concurrency());
}

SweepOutcome outcomeOf(const RunReport& report) {
  SweepOutcome outcome;
  outcome.kind = static_cast<SweepOutcome::Kind>(report.kind);
  outcome.message = report.message;
  outcome.ok = report.ok;
  outcome.failed = report.failed;
  outcome.notRun = report.notRun;
  outcome.earlier = report.earlier;
  outcome.hits = report.hits;
  outcome.computed = report.computed;
  return outcome;
}

// Starts the supervisor and waits for its report.
RunReport waitForReport(caf::actor_system& system, SupervisorSetup setup,
                        const std::stop_token& stop) {
  SupervisorHandle supervisor = system.spawn(supervisorActor, std::move(setup));
  RunReport report;
  {
    std::stop_callback onStop(stop, [&] { caf::anon_send(supervisor, StopRequest{}); });
    caf::scoped_actor self{system};
    self->request(supervisor, caf::infinite, RunRequest{})
        .receive([&](RunReport& answer) { report = std::move(answer); },
                 [&](caf::error& error) {
                   report.kind = static_cast<uint8_t>(SweepOutcome::Kind::Broken);
                   report.message = "the supervisor died: " + system.render(error);
                 });
  }
  return report;
}

} // namespace

SweepOutcome runSweep(const SweepPlan& plan, const SweepServices& services,
                      const SweepControl& control) {
  return runSweepWith(plan, services, control, {});
}

SweepOutcome runSweepWith(const SweepPlan& plan, const SweepServices& services,
                          const SweepControl& control, const WorkerWrapper& wrapper) {
  auto start = std::chrono::steady_clock::now();
  EstimatorLookup lookup = services.estimators.lookup();
  auto shards = std::make_shared<const ShardPlan>(plan, lookup);
  auto claims = std::make_shared<ClaimTable>(kKeptResults);
  PointMemo points(plan, lookup, services.reader.keyText());
  ModuleMemo modules(kTableBytes);
  RunMetadata metadata;
  size_t jobs = jobsOf(control);
  auto files = std::make_shared<FilesOfPlan>(plan, static_cast<int>(std::min<size_t>(jobs, 4)));
  SupervisorSetup setup;
  bool cached = plan.cacheMode != CacheMode::Disabled;
  auto context = std::make_shared<const WorkContext>(
      WorkContext{plan, services.estimators, services.reader, services.reader.keyText(), points,
                  modules, metadata, cached ? claims.get() : nullptr, setup.drain.get_token(),
                  setup.abandon.get_token()});
  RunReport report;
  {
    caf::actor_system_config config;
    // Two threads for the supervisor and the progress. They share one queue and sleep on it: with
    // work stealing they would poll, and an idle one answer ten milliseconds late.
    config.set("scheduler.max-threads", size_t{2});
    config.set("scheduler.policy", caf::atom("sharing"));
    caf::actor_system system{config};
    setup.plan = shards;
    setup.modules = plan.modules.size();
    setup.workers = jobs;
    setup.failFast = control.failFast;
    setup.graceSeconds = control.graceSeconds;
    setup.restartLimit = control.restartLimit;
    setup.files = files;
    setup.onCommitted = [&metadata](const ShardTally& shard) {
      metadata.commit(shard.module, shard.firstPoint);
    };
    setup.progress = system.spawn(progressActor, services.progress);
    setup.cache = system.spawn<caf::detached>(
        cacheActor, CacheSetup{cached ? &services.cache : nullptr, &services.record, claims, shards,
                               context->readerText, setup.progress, &metadata});
    setup.makeWorker = [&system, context, cache = setup.cache,
                        wrapper](WorkerId id, SupervisorHandle supervisor) {
      EstimatorSetup worker{id, context, cache, std::move(supervisor)};
      return wrapper ? wrapper(system, std::move(worker))
                     : system.spawn<caf::detached>(estimatorActor, std::move(worker));
    };
    report = waitForReport(system, std::move(setup), control.stop);
    files->finish(); // it holds a handle, which must not outlive the system
  }
  SweepOutcome outcome = outcomeOf(report);
  outcome.metadata = metadata.collect();
  outcome.confinedEstimators = shards->confinedEstimators();
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

} // namespace nocturne
