// A thread that stays where it is while it is measured.
#pragma once

#include <sched.h>

namespace nocturne::compiler {

// Keeps the calling thread on one processor while it lives, where the system lets it: caches stay
// warm, and processors of other speeds do not come in. Always the last that the thread may have, so
// that measurements of several processes can be compared; the first ones of a machine serve its
// devices.
class PinnedThread {
public:
  PinnedThread();
  ~PinnedThread();
  PinnedThread(const PinnedThread&) = delete;
  PinnedThread& operator=(const PinnedThread&) = delete;

private:
  cpu_set_t before_{};
  bool pinned_ = false;
};

} // namespace nocturne::compiler
