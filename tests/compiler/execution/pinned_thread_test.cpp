#include "compiler/execution/pinned_thread.h"

#include <doctest/doctest.h>

namespace nocturne::compiler {

namespace {

cpu_set_t allowed() {
  cpu_set_t set;
  REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
  return set;
}

} // namespace

TEST_CASE("a pinned thread is on the last of its processors, and then on all of them again") {
  const cpu_set_t before = allowed();
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &before))
    --last;
  {
    const PinnedThread pinned;
    const cpu_set_t during = allowed();
    CHECK(CPU_COUNT(&during) == 1);
    CHECK(CPU_ISSET(last, &during));
    CHECK(::sched_getcpu() == last);
  }
  const cpu_set_t after = allowed();
  CHECK(CPU_EQUAL(&before, &after));
}

} // namespace nocturne::compiler
