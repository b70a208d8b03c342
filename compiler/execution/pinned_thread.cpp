#include "compiler/execution/pinned_thread.h"

namespace nocturne::compiler {

PinnedThread::PinnedThread() {
  if (::sched_getaffinity(0, sizeof before_, &before_) != 0)
    return;
  size_t last = CPU_SETSIZE;
  while (last > 0 && !CPU_ISSET(last - 1, &before_))
    --last;
  if (last == 0)
    return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(last - 1, &one);
  pinned_ = ::sched_setaffinity(0, sizeof one, &one) == 0;
}

PinnedThread::~PinnedThread() {
  if (pinned_)
    ::sched_setaffinity(0, sizeof before_, &before_);
}

} // namespace nocturne::compiler
