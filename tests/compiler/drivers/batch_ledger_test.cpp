#include <doctest/doctest.h>

#include "compiler/drivers/batch_ledger.h"

namespace nocturne::test {

using namespace compiler;
using Work = BatchLedger::Work;

namespace {

BatchItem item(const std::string& content, const std::string& folder, uint64_t weight = 1) {
  return {hashBytes(content), folder, weight};
}

BuildReport built(const std::string& folder = "") {
  BuildReport report;
  report.state = BuildState::Built;
  report.outcome.built = true;
  report.outcome.folder = folder;
  return report;
}

BuildReport failed(FailureKind kind) {
  BuildReport report;
  report.state = BuildState::Failed;
  report.failure = Failure{kind, "why", "", 0, 0};
  return report;
}

} // namespace

TEST_CASE("items are handed out in their order and reported in their places") {
  BatchLedger ledger({item("a", "1"), item("b", "2"), item("c", "3")});
  const auto first = ledger.next(), second = ledger.next(), third = ledger.next();
  REQUIRE(third);
  CHECK(first->index == 0);
  CHECK(third->index == 2);
  CHECK_FALSE(ledger.next());
  ledger.done(*third, built("c"));
  ledger.done(*first, failed(FailureKind::Unreadable));
  CHECK_FALSE(ledger.finished());
  ledger.done(*second, built("b"));
  CHECK(ledger.finished());
  CHECK(ledger.reports()[2].outcome.folder == "c");
  CHECK((ledger.reports()[0].state == BuildState::Failed));
  CHECK(ledger.count(BuildState::Built) == 2);
  CHECK(ledger.count(BuildState::Failed) == 1);
}

TEST_CASE("an empty batch is finished") {
  BatchLedger ledger({});
  CHECK(ledger.finished());
  CHECK_FALSE(ledger.next());
}

TEST_CASE("equal items are built once: taken in the same folder, copied to another") {
  BatchLedger ledger({item("a", "1"), item("a", "1"), item("a", "2")});
  const auto leader = ledger.next();
  CHECK_FALSE(ledger.next());
  ledger.done(*leader, built());
  CHECK((ledger.reports()[1].state == BuildState::Reused));
  const auto copy = ledger.next();
  REQUIRE(copy);
  CHECK(copy->work == Work::Copy);
  CHECK(copy->index == 2);
  CHECK(copy->source == 0);
  ledger.done(*copy, built());
  CHECK(ledger.finished());
}

TEST_CASE("a bad module is bad in every folder, a full disk only in its own") {
  BatchLedger bad({item("a", "1"), item("a", "2")});
  bad.done(*bad.next(), failed(FailureKind::Unreadable));
  CHECK(bad.finished());
  CHECK(bad.count(BuildState::Failed) == 2);

  BatchLedger full({item("a", "1"), item("a", "1"), item("a", "2"), item("a", "3")});
  full.done(*full.next(), failed(FailureKind::ToolFailed));
  CHECK(full.count(BuildState::Failed) == 2);
  const auto again = full.next();
  REQUIRE(again);
  CHECK(again->index == 2);
  CHECK(again->work == Work::Build);
  full.done(*again, built());
  const auto copy = full.next();
  REQUIRE(copy);
  CHECK(copy->index == 3);
  CHECK(copy->source == 2);
  full.done(*copy, built());
  CHECK(full.finished());
}

TEST_CASE("the weights under way stay within the capacity, and a giant runs alone") {
  BatchLedger ledger({item("a", "1", 6), item("b", "2", 6), item("c", "3", 20)}, 10);
  const auto first = ledger.next();
  CHECK_FALSE(ledger.next());
  ledger.done(*first, built());
  const auto second = ledger.next();
  CHECK_FALSE(ledger.next());
  ledger.done(*second, built());
  const auto giant = ledger.next();
  REQUIRE(giant);
  ledger.done(*giant, built());
  CHECK(ledger.finished());
}

TEST_CASE("a job whose worker dies is tried once more and then failed alone") {
  BatchLedger ledger({item("a", "1"), item("b", "2")});
  ledger.lost(*ledger.next());
  const auto again = ledger.next();
  REQUIRE(again);
  CHECK(again->index == 0);
  ledger.lost(*again);
  CHECK((ledger.reports()[0].failure->kind == FailureKind::Crashed));
  ledger.done(*ledger.next(), built());
  CHECK(ledger.finished());
}

TEST_CASE("after a cancel nothing begins, and what is under way still counts") {
  BatchLedger ledger({item("a", "1"), item("a", "2"), item("b", "3"), item("b", "3")});
  const auto running = ledger.next();
  ledger.cancel();
  CHECK_FALSE(ledger.next());
  CHECK_FALSE(ledger.finished());
  ledger.done(*running, built());
  CHECK(ledger.finished());
  CHECK(ledger.count(BuildState::Built) == 1);
  CHECK(ledger.count(BuildState::Cancelled) == 3);
}

} // namespace nocturne::test
