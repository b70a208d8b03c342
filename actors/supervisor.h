// The supervisor: hands out shards, replaces workers that die, counts what is committed and decides
// when the run is over. Event-based; no handler works for long.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/handles.h"
#include "actors/run_sweep.h"
#include "actors/shard_queue.h"

namespace nocturne {

// Where the files of the plan come from: FileAhead, or a test. None of these may block.
class FileFeed {
public:
  virtual ~FileFeed() = default;
  // Has to lead to FilesReady messages to `to`, and to one that is the last.
  virtual void start(std::vector<bool> wanted, uint64_t limit, SupervisorHandle to) = 0;
  virtual void allow(uint64_t limit) = 0;
  virtual void stop() = 0;
};

using WorkerFactory = std::function<EstimatorHandle(WorkerId id, SupervisorHandle supervisor)>;

struct SupervisorSetup {
  std::shared_ptr<const ShardPlan> plan;
  uint64_t modules = 0;
  size_t workers = 1;
  bool failFast = false;
  double graceSeconds = 5;
  unsigned restartLimit = 32;
  ShardQueue::Limits limits = {};
  CacheHandle cache;
  ProgressHandle progress;
  std::shared_ptr<FileFeed> files;
  WorkerFactory makeWorker;
  std::function<void(const ShardTally&)> onCommitted; // may be empty; must not block
  std::stop_source drain, abandon;                    // what the workers look at
};

//            RunRequest          DoneShards           all committed
//   waiting ───────────► opening ─────────► running ───────────────► finishing ── Finished ─► over
//                           │                  │ stop request, first failure,        ▲
//                           │                  │ record broken, only deaths          │
//                           │                  ▼              nothing in flight      │
//                           │               draining ────────────────────────────────┤
//                           │                                                        │
//                           └──── the record or the cache actor is no more ──► over ◄┘
struct SupervisorState {
  static constexpr const char* name = "supervisor";
  enum class Phase : uint8_t { Waiting, Opening, Running, Draining, Finishing, Over };

  SupervisorSetup setup;
  Phase phase = Phase::Waiting;
  std::optional<ShardQueue> queue;
  caf::typed_response_promise<RunReport> promise;
  uint64_t earlier = 0; // items that an earlier run committed

  std::map<WorkerId, EstimatorHandle> workers; // strong: an actor without a handle ends
  std::set<WorkerId> asking;                   // have room and wait for a batch
  WorkerId nextWorker = 1;
  WorkerId confinedWorker = 0; // the one that runs confined estimators
  unsigned deathsInARow = 0;
  bool stopWanted = false; // before there was anything to stop

  SweepOutcome::Kind kind = SweepOutcome::Kind::Complete;
  std::string message;
};

SupervisorHandle::behavior_type
supervisorActor(SupervisorHandle::stateful_pointer<SupervisorState> self, SupervisorSetup setup);

} // namespace nocturne
