#include "actors/build_door.h"

#include "actors/actor_policy.h"

namespace nocturne {

namespace {

// Takes as long for every wrong token of the right length.
bool isSame(const std::string& one, const std::string& other) {
  unsigned difference = one.size() == other.size() ? 0 : 1;
  for (size_t i = 0; i < one.size() && i < other.size(); ++i)
    difference |= static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]);
  return difference == 0;
}

} // namespace

BuildDoorHandle::behavior_type
buildDoorActor(BuildDoorHandle::stateful_pointer<BuildDoorState> self, std::string token,
               BuildSupervisorHandle supervisor) {
  dieQuietly(self);
  self->state.token = std::move(token);
  self->state.supervisor = std::move(supervisor);
  return {
      [self](const WorkerHello& hello) {
        BuildDoorState& state = self->state;
        if (!self->current_sender() || !isSame(hello.token, state.token))
          return;
        state.workers[hello.worker] = caf::actor_cast<caf::actor_addr>(self->current_sender());
        self->send(state.supervisor, WorkerReady{hello.worker, caf::actor_cast<BuildWorkerHandle>(
                                                                   self->current_sender())});
      },
      [self](BuildDone& done) {
        BuildDoorState& state = self->state;
        const auto known = state.workers.find(done.worker);
        if (known == state.workers.end() || known->second != self->current_sender())
          return;
        self->send(state.supervisor, TaskDone{std::move(done)});
      },
  };
}

} // namespace nocturne
