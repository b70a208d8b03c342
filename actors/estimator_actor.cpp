#include "actors/estimator_actor.h"

#include "actors/actor_policy.h"

namespace nocturne {

namespace {

using Self = EstimatorHandle::stateful_pointer<EstimatorState>;
using Clock = std::chrono::steady_clock;

constexpr size_t kBatchesUnderWay = 2;

// Adds the time of a scope to what the worker has been busy.
class BusyTime {
public:
  explicit BusyTime(EstimatorState& state) : state_(state), start_(Clock::now()) {}
  ~BusyTime() { state_.seconds += std::chrono::duration<double>(Clock::now() - start_).count(); }
  BusyTime(const BusyTime&) = delete;

private:
  EstimatorState& state_;
  const Clock::time_point start_;
};

void askForWork(Self self) {
  EstimatorState& state = self->state;
  size_t underWay = 0;
  for (const auto& [number, running] : state.batches)
    underWay += running.waits ? 0 : 1;
  if (state.asked || underWay >= kBatchesUnderWay || state.setup.context->drain.stop_requested())
    return;
  state.asked = true;
  self->send(state.setup.supervisor, WorkerIdle{state.setup.id, std::exchange(state.seconds, 0),
                                                std::exchange(state.weight, 0)});
}

void giveBack(Self self, std::vector<ShardTally> shards) {
  if (!shards.empty())
    self->send(self->state.setup.supervisor,
               ShardsReturned{self->state.setup.id, std::move(shards)});
}

// Sends what is new, and forgets a batch that is over.
void putResults(Self self, uint64_t number) {
  EstimatorState& state = self->state;
  auto found = state.batches.find(number);
  ShardWork& work = *found->second.work;
  bool over = work.done() || work.abandoned();
  Put put = work.takePut();
  put.worker = state.setup.id;
  put.urgent = state.batches.size() == 1;
  if (!put.isEmpty())
    self->send(state.setup.cache, std::move(put));
  found->second.waits = true;
  if (!over)
    return;
  state.weight += work.weight();
  giveBack(self, work.unfinished());
  state.batches.erase(found);
}

void compute(Self self, uint64_t number) {
  {
    BusyTime busy(self->state);
    self->state.batches.at(number).work->compute();
  }
  putResults(self, number);
  askForWork(self);
}

// The deadline of a request to the cache actor. None on purpose: CAF keeps the timeout of every
// request in its clock until it has passed, answered or not, so that memory and time would grow
// with the number of requests. It is not needed either: a cache actor that dies answers every
// request with an error at once, and the supervisor, which watches it, ends the run.
constexpr caf::infinite_t kNoDeadline = caf::infinite;

void askTables(Self self, uint64_t number) {
  std::shared_ptr<ShardWork> work = self->state.batches.at(number).work;
  FileLookup question = work->tablesToAsk();
  if (question.contentHashes.empty()) {
    compute(self, number);
    return;
  }
  auto go = [self, work, number](FileReply& reply) {
    work->tables(std::move(reply));
    compute(self, number);
  };
  self->request(self->state.setup.cache, kNoDeadline, std::move(question))
      .then(go, [go](caf::error&) {
        FileReply nothing;
        go(nothing);
      });
}

void askKeys(Self self, uint64_t number) {
  std::shared_ptr<ShardWork> work = self->state.batches.at(number).work;
  Lookup question;
  {
    BusyTime busy(self->state);
    question = work->keysToAsk();
  }
  if (question.keys.empty()) {
    askTables(self, number);
    return;
  }
  question.worker = self->state.setup.id;
  self->request(self->state.setup.cache, kNoDeadline, std::move(question))
      .then(
          [self, work, number](LookupReply& reply) {
            work->answers(std::move(reply));
            askTables(self, number);
          },
          [self, work, number](caf::error&) {
            work->noAnswers();
            askTables(self, number);
          });
}

void useFiles(Self self, uint64_t number, FileReply reply) {
  {
    BusyTime busy(self->state);
    self->state.batches.at(number).work->files(std::move(reply));
  }
  askKeys(self, number);
}

void askFiles(Self self, uint64_t number) {
  FileLookup question = self->state.batches.at(number).work->filesToAsk();
  if (question.contentHashes.empty()) {
    useFiles(self, number, {});
    return;
  }
  self->request(self->state.setup.cache, kNoDeadline, std::move(question))
      .then([self, number](FileReply& reply) { useFiles(self, number, std::move(reply)); },
            [self, number](caf::error&) { useFiles(self, number, {}); });
}

void handleBatch(Self self, std::vector<Shard> shards) {
  EstimatorState& state = self->state;
  state.asked = false;
  uint64_t number = state.nextBatch++;
  auto work = std::make_shared<ShardWork>(*state.setup.context, std::move(shards));
  if (state.setup.context->drain.stop_requested()) {
    giveBack(self, work->unfinished());
    return;
  }
  state.batches.emplace(number, EstimatorState::Running{std::move(work), false});
  askForWork(self);
  askFiles(self, number);
}

// A result goes to every batch that waits for it, a claim to one.
void handleResolved(Self self, const Resolved& answer) {
  std::vector<uint64_t> touched;
  for (auto& [number, running] : self->state.batches) {
    bool concerned = false;
    for (const Resolution& resolution : answer.keys)
      if (!resolution.yours)
        concerned |= running.work->resolved(resolution);
    if (concerned)
      touched.push_back(number);
  }
  for (const Resolution& resolution : answer.keys)
    if (resolution.yours)
      for (auto& [number, running] : self->state.batches)
        if (running.work->resolved(resolution)) {
          touched.push_back(number);
          break;
        }
  for (uint64_t number : touched)
    if (auto found = self->state.batches.find(number);
        found != self->state.batches.end() && found->second.waits)
      compute(self, number);
}

} // namespace

EstimatorHandle::behavior_type estimatorActor(Self self, EstimatorSetup setup) {
  self->state.setup = std::move(setup);
  dieQuietly(self);
  askForWork(self);
  return {
      [self](Batch& batch) { handleBatch(self, std::move(batch.shards)); },
      [self](const Resolved& answer) { handleResolved(self, answer); },
  };
}

} // namespace nocturne
