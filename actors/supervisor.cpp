#include "actors/supervisor.h"

#include "actors/actor_policy.h"

namespace nocturne {

namespace {

using Self = SupervisorHandle::stateful_pointer<SupervisorState>;
using Phase = SupervisorState::Phase;
using Kind = SweepOutcome::Kind;

// --- The end

RunReport report(const SupervisorState& state) {
  RunReport out;
  const RunTally& tally = state.queue->tally();
  out.kind = static_cast<uint8_t>(state.kind);
  out.message = state.message;
  out.ok = tally.ok;
  out.failed = tally.failed;
  out.hits = tally.hits;
  out.computed = tally.computed;
  out.earlier = state.earlier;
  out.notRun = state.queue->itemsWanted() - tally.items;
  return out;
}

void sendProgress(Self self) {
  const SupervisorState& state = self->state;
  if (!state.setup.progress)
    return;
  const RunTally& tally = state.queue->tally();
  self->send(state.setup.progress,
             ProgressCounts{state.earlier + tally.items, state.earlier + state.queue->itemsWanted(),
                            tally.failed, tally.hits});
}

void endRun(Self self) {
  SupervisorState& state = self->state;
  if (std::exchange(state.phase, Phase::Over) == Phase::Over)
    return;
  state.setup.drain.request_stop();
  state.setup.abandon.request_stop();
  state.setup.files->stop();
  for (const auto& [id, worker] : state.workers)
    self->send_exit(worker, caf::exit_reason::user_shutdown);
  self->send_exit(state.setup.cache, caf::exit_reason::user_shutdown);
  if (state.setup.progress)
    self->send_exit(state.setup.progress, caf::exit_reason::user_shutdown);
  state.promise.deliver(report(state));
  self->quit();
}

// Something died that nobody can replace.
void breakRun(Self self, const std::string& what) {
  self->state.kind = Kind::Broken;
  self->state.message = what;
  endRun(self);
}

// The error branch of every request to the cache actor.
auto noAnswerOfCache(Self self) {
  return [self](caf::error& error) {
    breakRun(self, "the cache actor does not answer: " + self->system().render(error));
  };
}

// What run.sqlite says of the run.
std::string outcomeText(const SupervisorState& state) {
  switch (state.kind) {
  case Kind::Complete:
  case Kind::Failed:
    return "complete";
  case Kind::Interrupted:
    return "interrupted";
  default:
    return "stopped: " + state.message;
  }
}

void finishRun(Self self) {
  SupervisorState& state = self->state;
  state.phase = Phase::Finishing;
  if (state.kind == Kind::Complete && state.queue->tally().failed > 0)
    state.kind = Kind::Failed;
  sendProgress(self);
  self->request(state.setup.cache, kCacheDeadline, Finish{outcomeText(state)})
      .then(
          [self](const Finished& finished) {
            bool fine = self->state.kind == Kind::Complete || self->state.kind == Kind::Failed;
            if (!finished.ok && fine) {
              self->state.kind = Kind::StoppedByStorage;
              self->state.message = finished.message;
            }
            endRun(self);
          },
          noAnswerOfCache(self));
}

void finishIfOver(Self self) {
  SupervisorState& state = self->state;
  bool complete = state.phase == Phase::Running && state.queue->finished();
  bool drained = state.phase == Phase::Draining && state.queue->nothingInFlight();
  if (complete || drained)
    finishRun(self);
}

// No new work; what runs may go on for the grace period.
void drainRun(Self self, Kind kind, std::string message) {
  SupervisorState& state = self->state;
  if (state.phase != Phase::Running)
    return;
  state.phase = Phase::Draining;
  state.kind = kind;
  state.message = std::move(message);
  state.setup.drain.request_stop();
  state.setup.files->stop();
  auto grace = std::chrono::milliseconds(static_cast<int64_t>(1000 * state.setup.graceSeconds));
  self->delayed_send(self, grace, GraceOver{});
  finishIfOver(self);
}

// --- Work

// The idlest first, so that nobody fetches ahead while another has nothing.
void serveAsking(Self self) {
  SupervisorState& state = self->state;
  if (state.phase != Phase::Running)
    return;
  for (bool idle : {true, false})
    for (auto next = state.asking.begin(); next != state.asking.end();) {
      WorkerId id = *next;
      if (state.queue->isIdle(id) != idle) {
        ++next;
        continue;
      }
      std::vector<Shard> shards =
          state.queue->take(id, id == state.confinedWorker, state.setup.workers);
      if (shards.empty()) {
        ++next;
        continue;
      }
      next = state.asking.erase(next);
      self->send(state.workers.at(id), Batch{std::move(shards)});
    }
  state.setup.files->allow(state.queue->readLimit());
}

void startWorker(Self self, bool confined) {
  SupervisorState& state = self->state;
  WorkerId id = state.nextWorker++;
  EstimatorHandle worker = state.setup.makeWorker(id, SupervisorHandle(self));
  self->monitor(worker);
  state.workers.emplace(id, std::move(worker));
  if (confined)
    state.confinedWorker = id;
}

void handleFiles(Self self, FilesReady& ready) {
  SupervisorState& state = self->state;
  if (state.phase != Phase::Running)
    return;
  for (FileInfo& file : ready.files)
    state.queue->arrived(std::move(file));
  if (ready.last)
    state.queue->allArrived();
  serveAsking(self);
  finishIfOver(self);
}

void handleCommitted(Self self, const Committed& committed) {
  SupervisorState& state = self->state;
  const RunTally& tally = state.queue->tally();
  uint64_t failedBefore = tally.failed;
  for (const ShardTally& shard : committed.shards) {
    state.queue->committed(shard);
    if (state.setup.onCommitted)
      state.setup.onCommitted(shard);
    if (shard.hits + shard.computed > 0)
      state.deathsInARow = 0;
  }
  sendProgress(self);
  if (state.setup.failFast && tally.failed > failedBefore)
    drainRun(self, Kind::StoppedByFailFast, "an item failed");
  serveAsking(self);
  finishIfOver(self);
}

// --- Deaths

// An item that kills whoever estimates it is recorded as failed.
void condemn(Self self, const Shard& shard, const std::string& reason) {
  ShardDone done;
  done.record.module = shard.module();
  done.record.firstPoint = shard.firstPoint;
  done.record.attempts = shard.deaths;
  ItemRecord item;
  item.point = shard.firstPoint;
  item.status = ItemStatus::Failed;
  item.failure = Failure{FailureKind::Crashed, "the worker died each time: " + reason, {}, 0, 0};
  done.record.items.push_back(std::move(item));
  done.tally = emptyTally(shard);
  done.tally.failed = 1;
  Put put;
  put.shards.push_back(std::move(done));
  put.urgent = true;
  self->send(self->state.setup.cache, std::move(put));
}

// Everything the dead worker had put is committed: the rest of what it had is lost.
void handleCleared(Self self, WorkerId worker, const std::string& reason) {
  SupervisorState& state = self->state;
  for (const Shard& shard : state.queue->lost(worker))
    condemn(self, shard, reason);
  bool confined = worker == state.confinedWorker;
  if (++state.deathsInARow > state.setup.restartLimit)
    drainRun(self, Kind::StoppedByRestarts,
             std::to_string(state.deathsInARow) +
                 " workers died with nothing estimated in between; the last said: " + reason);
  if (state.phase == Phase::Running) {
    startWorker(self, confined);
    serveAsking(self);
  }
  finishIfOver(self);
}

void handleWorkerDeath(Self self, WorkerId worker, std::string reason) {
  SupervisorState& state = self->state;
  state.workers.erase(worker);
  state.asking.erase(worker);
  self->request(state.setup.cache, kCacheDeadline, WorkerGone{worker})
      .then([self,
             reason](const WorkerCleared& cleared) { handleCleared(self, cleared.worker, reason); },
            noAnswerOfCache(self));
}

void handleDown(Self self, const caf::down_msg& down) {
  SupervisorState& state = self->state;
  if (state.phase == Phase::Over)
    return;
  std::string reason = self->system().render(down.reason);
  if (down.source == state.setup.cache.address()) {
    breakRun(self, "the cache actor died: " + reason);
    return;
  }
  for (const auto& [id, worker] : state.workers)
    if (down.source == worker.address()) {
      handleWorkerDeath(self, id, reason);
      return;
    }
}

// --- The beginning

void handleStop(Self self) {
  self->state.stopWanted = true;
  drainRun(self, Kind::Interrupted, "interrupted");
}

void handleOpened(Self self, const DoneShards& done) {
  SupervisorState& state = self->state;
  if (!done.error.empty()) {
    state.kind = Kind::StoppedByStorage;
    state.message = done.error;
    endRun(self);
    return;
  }
  state.phase = Phase::Running;
  state.earlier = state.queue->skip(done.shards);
  state.setup.files->start(state.queue->wantedModules(), state.queue->readLimit(),
                           SupervisorHandle(self));
  for (size_t i = 0; i < state.setup.workers; ++i)
    startWorker(self, i == 0);
  if (state.stopWanted)
    handleStop(self);
}

caf::typed_response_promise<RunReport> handleRun(Self self) {
  SupervisorState& state = self->state;
  state.promise = self->make_response_promise<RunReport>();
  state.phase = Phase::Opening;
  self->request(state.setup.cache, kCacheDeadline, OpenRecord{})
      .then([self](const DoneShards& done) { handleOpened(self, done); }, noAnswerOfCache(self));
  return state.promise;
}

} // namespace

SupervisorHandle::behavior_type supervisorActor(Self self, SupervisorSetup setup) {
  SupervisorState& state = self->state;
  state.setup = std::move(setup);
  state.queue.emplace(*state.setup.plan, state.setup.modules, state.setup.limits);
  dieQuietly(self);
  self->set_down_handler([self](caf::down_msg& down) { handleDown(self, down); });
  self->monitor(state.setup.cache);
  return {
      [self](RunRequest) { return handleRun(self); },
      [self](FilesReady& ready) { handleFiles(self, ready); },
      [self](const WorkerIdle& idle) {
        self->state.queue->measured(idle.seconds, idle.weight);
        if (!self->state.workers.contains(idle.worker))
          return;
        self->state.asking.insert(idle.worker);
        serveAsking(self);
      },
      [self](const Committed& committed) { handleCommitted(self, committed); },
      [self](const ShardsReturned& returned) {
        for (const ShardTally& shard : returned.shards)
          self->state.queue->returned(shard);
        finishIfOver(self);
      },
      [self](const RecordFailed& failed) {
        drainRun(self, Kind::StoppedByStorage, failed.message);
        self->state.setup.abandon.request_stop();
      },
      [self](StopRequest) { handleStop(self); },
      [self](GraceOver) { self->state.setup.abandon.request_stop(); },
  };
}

} // namespace nocturne
