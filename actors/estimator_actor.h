// The estimator actor: takes batches of shards, estimates what nobody has estimated yet and puts
// the results. Spawn it detached: it computes inside its handlers.
#pragma once

#include <map>
#include <memory>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/handles.h"
#include "actors/shard_work.h"

namespace nocturne {

struct EstimatorSetup {
  WorkerId id = 0;
  std::shared_ptr<const WorkContext> context;
  CacheHandle cache;
  SupervisorHandle supervisor;
};

// One batch:
//
//  Batch ─► FileLookup ─► Lookup ─► (tables) ─► compute ─► Put ─► done
//                                                  ▲         │ some keys are pending
//                                                  └─────────┴── Resolved
//
// Two batches are under way at a time, so that the cache actor works on the next one while this one
// is computed; those that only wait for others do not count.
struct EstimatorState {
  static constexpr const char* name = "estimator";
  struct Running {
    std::shared_ptr<ShardWork> work;
    bool waits = false; // computed, but for keys that others compute
  };
  EstimatorSetup setup;
  std::map<uint64_t, Running> batches; // by number
  uint64_t nextBatch = 0;
  bool asked = false;             // for a batch that has not come yet
  double seconds = 0, weight = 0; // since the last WorkerIdle
};

EstimatorHandle::behavior_type
estimatorActor(EstimatorHandle::stateful_pointer<EstimatorState> self, EstimatorSetup setup);

} // namespace nocturne
