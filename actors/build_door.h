// Where worker processes come in: the only actor of builds that others can reach.
#pragma once

#include <map>
#include <string>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/build_messages.h"

namespace nocturne {

// Everybody on this machine can connect to a loopback port. Who does not have the token is not
// heard, and nobody who comes in learns of the supervisor: what he can stop is the door.
struct BuildDoorState {
  static constexpr const char* name = "build_door";
  std::string token;
  BuildSupervisorHandle supervisor;
  std::map<WorkerNumber, caf::actor_addr> workers; // that have shown the token
};

BuildDoorHandle::behavior_type
buildDoorActor(BuildDoorHandle::stateful_pointer<BuildDoorState> self, std::string token,
               BuildSupervisorHandle supervisor);

} // namespace nocturne
