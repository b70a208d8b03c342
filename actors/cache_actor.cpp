#include "actors/cache_actor.h"

#include "actors/actor_policy.h"

namespace nocturne {

namespace {

using Self = CacheHandle::stateful_pointer<CacheState>;

constexpr std::chrono::seconds kClaimTick{10};

void warn(Self self) {
  CacheState& state = self->state;
  for (std::string& warning : state.desk->takeWarnings())
    if (state.progress)
      self->send(state.progress, Warning{std::move(warning)});
  if (state.metadata == nullptr)
    return;
  for (std::string& warning : state.metadata->takeWarnings())
    if (state.progress)
      self->send(state.progress, Warning{std::move(warning)});
}

void sendAnswers(Self self, ResultDesk::Answers answers) {
  for (auto& [worker, answer] : answers) {
    auto known = self->state.workers.find(worker);
    if (known != self->state.workers.end())
      self->send(known->second, std::move(answer));
  }
}

// Shards of a run that cannot be recorded any more go back.
void tellFailure(Self self) {
  CacheState& state = self->state;
  if (state.desk->recordError().empty() || !state.supervisor)
    return;
  if (!std::exchange(state.toldFailure, true))
    self->send(state.supervisor, RecordFailed{state.desk->recordError()});
  std::vector<ShardTally> dropped = state.desk->takeDropped();
  if (!dropped.empty())
    self->send(state.supervisor, ShardsReturned{0, std::move(dropped)});
}

void flush(Self self) {
  CacheState& state = self->state;
  std::vector<ShardTally> done = state.desk->flush();
  if (!done.empty() && state.supervisor)
    self->send(state.supervisor, Committed{std::move(done)});
  tellFailure(self);
  warn(self);
}

void handlePut(Self self, Put& put) {
  CacheState& state = self->state;
  bool urgent = put.urgent;
  sendAnswers(self, state.desk->put(std::move(put), ClaimTable::Clock::now()));
  tellFailure(self);
  if (!state.desk->anythingWaits())
    return;
  if (urgent || state.desk->waitingRows() >= kFlushRows) {
    flush(self);
  } else if (!std::exchange(state.flushTicking, true)) {
    self->delayed_send(self, kFlushAfter, FlushTick{});
  }
}

void handleClaimTick(Self self) {
  CacheState& state = self->state;
  state.claimsTicking = state.claims->anyoneWaits();
  if (!state.claimsTicking)
    return;
  sendAnswers(self, state.desk->expire(kClaimDeadline, ClaimTable::Clock::now()));
  self->delayed_send(self, kClaimTick, ClaimTick{});
}

LookupReply handleLookup(Self self, const Lookup& question) {
  CacheState& state = self->state;
  state.workers.try_emplace(question.worker,
                            caf::actor_cast<EstimatorHandle>(self->current_sender()));
  LookupReply reply = state.desk->lookup(question, ClaimTable::Clock::now());
  if (!reply.pending.empty() && !std::exchange(state.claimsTicking, true))
    self->delayed_send(self, kClaimTick, ClaimTick{});
  warn(self);
  return reply;
}

WorkerCleared handleWorkerGone(Self self, WorkerId worker) {
  CacheState& state = self->state;
  flush(self);
  state.workers.erase(worker);
  sendAnswers(self, state.desk->workerGone(worker, ClaimTable::Clock::now()));
  return {worker};
}

Finished handleFinish(Self self, const std::string& outcome) {
  flush(self);
  Json metadata;
  if (self->state.metadata != nullptr)
    metadata = self->state.metadata->collect();
  warn(self);
  std::string error = self->state.desk->finish(outcome, metadata);
  return {error.empty(), error};
}

} // namespace

CacheHandle::behavior_type cacheActor(Self self, CacheSetup setup) {
  CacheState& state = self->state;
  state.claims = setup.claims;
  state.plan = setup.plan;
  state.progress = setup.progress;
  state.metadata = setup.metadata;
  state.desk.emplace(setup.store, *setup.record, *state.claims, *state.plan, setup.readerText);
  dieQuietly(self);
  return {
      [self](OpenRecord) {
        self->state.supervisor = caf::actor_cast<SupervisorHandle>(self->current_sender());
        return self->state.desk->open();
      },
      [self](const FileLookup& question) {
        FileReply reply = self->state.desk->files(question);
        warn(self);
        return reply;
      },
      [self](const Lookup& question) { return handleLookup(self, question); },
      [self](Put& put) { handlePut(self, put); },
      [self](FlushTick) {
        self->state.flushTicking = false;
        if (self->state.desk->anythingWaits())
          flush(self);
      },
      [self](ClaimTick) { handleClaimTick(self); },
      [self](WorkerGone gone) { return handleWorkerGone(self, gone.worker); },
      [self](const Finish& finish) { return handleFinish(self, finish.outcome); },
  };
}

} // namespace nocturne
