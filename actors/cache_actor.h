// The cache actor: the only owner of result cache and run record. Spawn it detached.
#pragma once

#include <memory>
#include <unordered_map>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/handles.h"
#include "actors/result_desk.h"
#include "actors/run_metadata.h"

namespace nocturne {

struct CacheSetup {
  ResultStore* store = nullptr; // null: disabled
  RunRecord* record = nullptr;
  std::shared_ptr<ClaimTable> claims;
  std::shared_ptr<const ShardPlan> plan;
  std::string readerText;
  ProgressHandle progress;
  RunMetadata* metadata = nullptr; // null: none is gathered
};

//           Put                    256 rows, or 50 ms, or a worker without other work
//   empty ───────► something waits ───────────────────────────────────────────────────► flush
//     ▲                                                                                   │
//     └─────────────── both files are committed; Committed to the supervisor ─────────────┘
struct CacheState {
  static constexpr const char* name = "cache";
  std::optional<ResultDesk> desk;
  std::shared_ptr<ClaimTable> claims;
  std::shared_ptr<const ShardPlan> plan;
  ProgressHandle progress;
  RunMetadata* metadata = nullptr;
  SupervisorHandle supervisor; // who opened the record
  std::unordered_map<WorkerId, EstimatorHandle> workers;
  bool flushTicking = false, claimsTicking = false, toldFailure = false;
};

CacheHandle::behavior_type cacheActor(CacheHandle::stateful_pointer<CacheState> self,
                                      CacheSetup setup);

} // namespace nocturne
