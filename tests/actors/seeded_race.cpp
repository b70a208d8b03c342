// Two detached actors write to one integer without any order between them. Under the thread
// sanitizer this has to be reported, else its silence about the other tests means nothing.
#include <cstdio>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include "actors/messages.h"

namespace {

caf::behavior writer(caf::event_based_actor* self, int* shared) {
  return {
      [self, shared](const nocturne::WorkerIdle& idle) {
        *shared += static_cast<int>(idle.worker);
        if (idle.worker == 0)
          self->quit();
      },
  };
}

} // namespace

int main() {
  int shared = 0;
  {
    caf::actor_system_config config;
    caf::actor_system system{config};
    caf::actor one = system.spawn<caf::detached>(writer, &shared);
    caf::actor two = system.spawn<caf::detached>(writer, &shared);
    // Nobody answers: an answer would put the writes in order.
    for (uint64_t i = 0; i < 1000; ++i) {
      caf::anon_send(one, nocturne::WorkerIdle{1, 0, 0});
      caf::anon_send(two, nocturne::WorkerIdle{1, 0, 0});
    }
    caf::anon_send(one, nocturne::WorkerIdle{0, 0, 0});
    caf::anon_send(two, nocturne::WorkerIdle{0, 0, 0});
  }
  std::printf("%d\n", shared);
  return 0;
}
