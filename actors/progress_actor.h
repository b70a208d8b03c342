// Tells a listener how far the run is, a few times a second at most.
#pragma once

#include <chrono>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/handles.h"

namespace nocturne {

//          counts, told at once               counts, kept
//  quiet ───────────────────────► ticking ─────────────────┐
//    ▲                              │  ▲                   │
//    └── tick with nothing new ─────┘  └── tick: told ◄────┘
struct ProgressState {
  static constexpr const char* name = "progress";
  ProgressListener* listener = nullptr;
  std::chrono::steady_clock::time_point start;
  ProgressCounts counts;
  bool ticking = false, isNew = false;
};

// `listener` may be null.
ProgressHandle::behavior_type progressActor(ProgressHandle::stateful_pointer<ProgressState> self,
                                            ProgressListener* listener);

} // namespace nocturne
