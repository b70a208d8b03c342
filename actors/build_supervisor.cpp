#include "actors/build_supervisor.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <caf/send.hpp>

#include "actors/actor_policy.h"

namespace nocturne {

namespace {

using Self = BuildSupervisorHandle::stateful_pointer<BuildSupervisorState>;
using Phase = BuildSupervisorState::Phase;
using Worker = BuildSupervisorState::Worker;
using Work = compiler::BatchLedger::Work;

// --- The end

void kill(const Worker& worker) {
  if (worker.process)
    worker.process->kill();
}

void finishIfOver(Self self) {
  BuildSupervisorState& state = self->state;
  if (state.phase == Phase::Waiting || state.phase == Phase::Over || !state.setup.queue->finished())
    return;
  state.phase = Phase::Over;
  // Nobody builds any more: the workers have nothing to lose.
  for (auto& [number, worker] : state.workers)
    kill(worker);
  state.workers.clear();
  state.promise.deliver(BuildsOver{state.problem});
  self->quit();
}

void drain(Self self) {
  BuildSupervisorState& state = self->state;
  if (state.phase != Phase::Running)
    return;
  state.phase = Phase::Draining;
  state.setup.queue->cancel();
  self->delayed_send(self, state.setup.grace, GraceOver{});
  finishIfOver(self);
}

void handleStop(Self self) {
  self->state.stopWanted = true;
  drain(self);
}

void handleGraceOver(Self self) {
  for (auto& [number, worker] : self->state.workers)
    kill(worker);
}

// --- Workers

void startWorker(Self self) {
  BuildSupervisorState& state = self->state;
  const WorkerNumber number = state.nextWorker++;
  const auto ended = [number, to = BuildSupervisorHandle(self)](const std::string& reason) {
    caf::anon_send(to, WorkerEnded{number, reason});
  };
  Worker& worker = state.workers[number];
  try {
    worker.process = state.setup.startWorker(number, ended);
  } catch (const std::exception& error) { // no thread, no memory: it may be one of many too many
    ended(error.what());
    return;
  }
  if (state.setup.startTime.count() > 0)
    self->delayed_send(self, state.setup.startTime, WorkerDeadline{number});
}

// As many as there can be work for.
void startWorkers(Self self) {
  BuildSupervisorState& state = self->state;
  const auto& ledger = state.setup.queue->ledger();
  const size_t left = ledger.size() - ledger.finishedCount();
  while (state.phase == Phase::Running &&
         state.workers.size() < std::min(state.setup.workers, left))
    startWorker(self);
}

void give(Self self, WorkerNumber number, const BuildQueue::Job& job) {
  BuildSupervisorState& state = self->state;
  Worker& worker = state.workers.at(number);
  worker.job = job;
  worker.ticket = state.nextTicket++;
  BuildTask task = state.setup.tasks[job.index];
  task.ticket = worker.ticket;
  if (job.work == Work::Copy) {
    const compiler::BuildOutcome& source =
        state.setup.queue->ledger().reports()[job.source].outcome;
    task.copyOf = source.folder;
    task.key = source.key;
    task.text.clear();
    task.path.clear();
  }
  // Without a sender: the worker's process is not to know how to reach this actor.
  caf::anon_send(worker.handle, std::move(task));
  if (state.setup.deadline.count() > 0)
    self->delayed_send(self, state.setup.deadline, TaskDeadline{number, worker.ticket});
}

void serve(Self self) {
  BuildSupervisorState& state = self->state;
  if (state.phase != Phase::Running)
    return;
  for (auto& [number, worker] : state.workers) {
    if (!worker.handle || worker.job || worker.retired)
      continue;
    if (const std::optional<BuildQueue::Job> job = state.setup.queue->next(worker.builds == 0))
      give(self, number, *job);
  }
  if (!state.setup.queue->wantsFreshWorker())
    return;
  // Each of them has built something. Its place is taken when its end is known.
  for (auto& [number, worker] : state.workers) {
    if (worker.builds == 0)
      return; // will be ready soon
    if (std::exchange(worker.retired, true))
      return; // will be replaced soon
    kill(worker);
    return;
  }
}

// The worker dies of its own accord, or is cut off.
void handleDown(Self self, const caf::down_msg& down) {
  for (auto& [number, worker] : self->state.workers)
    if (worker.handle && down.source == worker.handle.address())
      kill(worker);
}

void handleReady(Self self, WorkerReady& ready) {
  BuildSupervisorState& state = self->state;
  const auto found = state.workers.find(ready.worker);
  if (found == state.workers.end() || found->second.handle)
    return;
  found->second.handle = std::move(ready.handle);
  self->monitor(found->second.handle);
  serve(self);
}

void handleEnded(Self self, const WorkerEnded& ended) {
  BuildSupervisorState& state = self->state;
  const auto found = state.workers.find(ended.worker);
  if (found == state.workers.end())
    return;
  const Worker worker = std::move(found->second);
  state.workers.erase(found);
  if (worker.job && worker.late)
    state.setup.queue->timedOut(*worker.job, state.setup.deadline);
  else if (worker.job)
    state.setup.queue->died(*worker.job, ended.reason);
  else if (!worker.handle && !state.workers.empty())
    // There is room for no more than there are: processes, files or memory are at their end.
    state.setup.workers = state.workers.size();
  else if (!worker.retired)
    ++state.deathsInARow;
  // Those at work cannot die for ever: each death is one of the two that their module has.
  if (state.deathsInARow > state.setup.restartLimit && state.phase == Phase::Running) {
    state.problem =
        std::to_string(state.deathsInARow) +
        " processes that were to build died before they had begun; the last was: " + ended.reason;
    drain(self);
  }
  if (state.setup.onProgress)
    state.setup.onProgress(*state.setup.queue);
  startWorkers(self);
  serve(self);
  finishIfOver(self);
}

// --- Work

compiler::BuildReport reportOf(BuildReply& reply) {
  try {
    return fromReply(std::move(reply));
  } catch (const Error& error) {
    return compiler::failedReport({FailureKind::Internal, error.what(), "", 0, 0});
  }
}

void handleDone(Self self, TaskDone& message) {
  BuildSupervisorState& state = self->state;
  const auto found = state.workers.find(message.done.worker);
  if (found == state.workers.end())
    return;
  Worker& worker = found->second;
  if (!worker.job || worker.ticket != message.done.ticket || worker.late)
    return;
  const BuildQueue::Job job = *std::exchange(worker.job, std::nullopt);
  ++worker.builds;
  state.deathsInARow = 0;
  state.setup.queue->done(job, reportOf(message.done.reply));
  if (state.setup.onProgress)
    state.setup.onProgress(*state.setup.queue);
  serve(self);
  finishIfOver(self);
}

void handleTaskDeadline(Self self, const TaskDeadline& deadline) {
  const auto found = self->state.workers.find(deadline.worker);
  if (found == self->state.workers.end())
    return;
  Worker& worker = found->second;
  if (!worker.job || worker.ticket != deadline.ticket)
    return;
  worker.late = true;
  kill(worker);
}

void handleWorkerDeadline(Self self, const WorkerDeadline& deadline) {
  const auto found = self->state.workers.find(deadline.worker);
  if (found != self->state.workers.end() && !found->second.handle)
    kill(found->second);
}

caf::typed_response_promise<BuildsOver> handleRequest(Self self) {
  BuildSupervisorState& state = self->state;
  state.promise = self->make_response_promise<BuildsOver>();
  state.phase = Phase::Running;
  caf::typed_response_promise<BuildsOver> promise = state.promise;
  if (state.stopWanted)
    handleStop(self);
  startWorkers(self);
  finishIfOver(self);
  return promise;
}

// After a bug of ours, or without memory: who waits for the end must not wait for ever.
void giveUp(Self self, const std::string& reason) {
  BuildSupervisorState& state = self->state;
  if (state.phase == Phase::Waiting || state.phase == Phase::Over)
    return;
  state.phase = Phase::Over;
  state.problem = "the supervisor of builds died: " + reason;
  state.setup.queue->cancel();
  for (const auto& [number, worker] : state.workers)
    if (worker.job)
      state.setup.queue->done(
          *worker.job, compiler::failedReport({FailureKind::Internal, state.problem, "", 0, 0}));
  for (auto& [number, worker] : state.workers)
    kill(worker);
  state.workers.clear();
  state.promise.deliver(BuildsOver{state.problem});
}

} // namespace

BuildSupervisorHandle::behavior_type buildSupervisorActor(Self self, BuildSupervisorSetup setup) {
  self->state.setup = std::move(setup);
  dieQuietly(self, [self](const std::string& reason) { giveUp(self, reason); });
  self->set_down_handler([self](caf::down_msg& down) { handleDown(self, down); });
  return {
      [self](BuildsRequest) { return handleRequest(self); },
      [self](WorkerReady& ready) { handleReady(self, ready); },
      [self](TaskDone& done) { handleDone(self, done); },
      [self](const WorkerEnded& ended) { handleEnded(self, ended); },
      [self](const WorkerDeadline& deadline) { handleWorkerDeadline(self, deadline); },
      [self](const TaskDeadline& deadline) { handleTaskDeadline(self, deadline); },
      [self](StopRequest) { handleStop(self); },
      [self](GraceOver) { handleGraceOver(self); },
  };
}

} // namespace nocturne
