#include "actors/progress_actor.h"

#include "actors/actor_policy.h"

namespace nocturne {

namespace {

using Self = ProgressHandle::stateful_pointer<ProgressState>;

void tell(Self self) {
  ProgressState& state = self->state;
  state.isNew = false;
  if (state.listener == nullptr)
    return;
  std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - state.start;
  const ProgressCounts& counts = state.counts;
  state.listener->onProgress(
      {counts.itemsDone, counts.itemsTotal, counts.itemsFailed, counts.cacheHits, elapsed.count()});
}

void tick(Self self) {
  self->state.ticking = true;
  self->delayed_send(self, kProgressEvery, ProgressTick{});
}

} // namespace

ProgressHandle::behavior_type progressActor(Self self, ProgressListener* listener) {
  self->state.listener = listener;
  self->state.start = std::chrono::steady_clock::now();
  dieQuietly(self);
  return {
      [self](const ProgressCounts& counts) {
        self->state.counts = counts;
        self->state.isNew = true;
        bool last = counts.itemsDone == counts.itemsTotal;
        if (self->state.ticking && !last)
          return;
        tell(self);
        if (!self->state.ticking)
          tick(self);
      },
      [self](const Warning& warning) {
        if (self->state.listener != nullptr)
          self->state.listener->onWarning(warning.text);
      },
      [self](ProgressTick) {
        self->state.ticking = false;
        if (!self->state.isNew)
          return;
        tell(self);
        tick(self);
      },
  };
}

} // namespace nocturne
