// What becomes of modules whose builders die.
#include "actors/build_queue.h"

#include <doctest/doctest.h>

using namespace nocturne;
using compiler::BatchItem;
using compiler::BuildReport;
using compiler::BuildState;

namespace {

BatchItem item(const std::string& key, uint64_t weight = 1) {
  return {hashBytes(key), "out/" + key, weight};
}

BuildReport built() {
  BuildReport report;
  report.state = BuildState::Built;
  return report;
}

// The index of the job, -1 for none.
int take(BuildQueue& queue, bool fresh, std::optional<BuildQueue::Job>* job = nullptr) {
  std::optional<BuildQueue::Job> next = queue.next(fresh);
  if (job)
    *job = next;
  return next ? static_cast<int>(next->index) : -1;
}

} // namespace

TEST_CASE("a module whose builder died is built once more, alone, when all others are done") {
  BuildQueue queue({item("a"), item("b"), item("c")});
  std::optional<BuildQueue::Job> a, b, c, again;
  take(queue, true, &a);
  take(queue, true, &b);
  queue.died(*a, "killed by SIGSEGV");
  CHECK_FALSE(queue.wantsFreshWorker());
  CHECK(take(queue, true, &c) == 2);
  queue.done(*b, built());
  CHECK(take(queue, true) == -1); // c is under way
  queue.done(*c, built());
  CHECK(queue.wantsFreshWorker());
  CHECK(take(queue, false) == -1); // this one has built something
  CHECK(take(queue, true, &again) == 0);
  CHECK_FALSE(queue.finished());
  queue.done(*again, built());
  CHECK(queue.finished());
  CHECK(queue.ledger().count(BuildState::Built) == 3);
}

TEST_CASE("nothing else is handed out beside a module that is suspected") {
  BuildQueue queue({item("a"), item("b")});
  std::optional<BuildQueue::Job> a, b, again;
  take(queue, true, &a);
  take(queue, true, &b);
  queue.died(*a, "x");
  queue.died(*b, "x");
  CHECK(take(queue, true, &again) == 0);
  CHECK(take(queue, true) == -1);
  queue.done(*again, built());
  CHECK(take(queue, true) == 1);
}

TEST_CASE("the second death of a module is its failure, with how its builder ended") {
  BuildQueue queue({item("a"), item("b")});
  std::optional<BuildQueue::Job> a, b;
  take(queue, true, &a);
  queue.died(*a, "killed by SIGSEGV");
  take(queue, true, &b);
  queue.done(*b, built());
  take(queue, true, &a);
  queue.died(*a, "killed by SIGABRT: no more");
  REQUIRE(queue.finished());
  const std::vector<BuildReport> reports = queue.takeReports();
  REQUIRE(reports[0].failure.has_value());
  CHECK((reports[0].state == BuildState::Failed));
  CHECK((reports[0].failure->kind == FailureKind::Crashed));
  CHECK(reports[0].failure->message ==
        "the process that built it died twice: killed by SIGABRT: no more");
  CHECK((reports[1].state == BuildState::Built));
}

TEST_CASE("a module that takes too long is not tried again") {
  BuildQueue queue({item("a")});
  std::optional<BuildQueue::Job> a;
  take(queue, true, &a);
  queue.timedOut(*a, std::chrono::milliseconds(1500));
  REQUIRE(queue.finished());
  CHECK((queue.ledger().reports()[0].failure->kind == FailureKind::TimedOut));
  CHECK(queue.ledger().reports()[0].failure->message == "not built within 1.5 s");
}

TEST_CASE("after a stop nothing is handed out, and what dies is cancelled") {
  BuildQueue queue({item("a"), item("b"), item("c"), item("d")});
  std::optional<BuildQueue::Job> a, b, c;
  take(queue, true, &a);
  take(queue, true, &b);
  take(queue, true, &c);
  queue.died(*a, "x"); // waits for its second try
  queue.cancel();
  CHECK(take(queue, true) == -1);
  CHECK_FALSE(queue.finished());
  queue.done(*b, built());
  queue.died(*c, "killed by SIGKILL");
  CHECK(queue.finished());
  CHECK(queue.underWay() == 0);
  CHECK(queue.ledger().count(BuildState::Built) == 1);
  CHECK(queue.ledger().count(BuildState::Cancelled) == 3);
}

TEST_CASE("a heavy module waits for a suspected one, and is built after it") {
  BuildQueue queue({item("light", 1), item("heavy", 10)}, 5);
  std::optional<BuildQueue::Job> light, heavy;
  take(queue, true, &light);
  queue.died(*light, "x");
  CHECK(take(queue, true, &light) == 0);
  queue.done(*light, built());
  CHECK(take(queue, false, &heavy) == 1);
  queue.done(*heavy, built());
  CHECK(queue.finished());
}
