#include "actors/claim_table.h"

#include <doctest/doctest.h>

using namespace nocturne;
using Answer = ClaimTable::Answer;

namespace {

Digest keyOf(const std::string& text) {
  return hashBytes(text);
}

ResultRow rowOf(const std::string& text) {
  ResultRow row;
  row.key = keyOf(text);
  row.success = true;
  row.runtime = 1.5;
  return row;
}

struct Fixture {
  ClaimTable table{100};
  ClaimTable::Clock::time_point now{};
  ResultPtr row;
  Answer claim(const std::string& key, WorkerId worker) {
    return table.claim(keyOf(key), worker, now, row);
  }
};

} // namespace

TEST_CASE("the first who asks gets the claim, others wait, and later ones get the result") {
  Fixture f;
  CHECK(f.claim("k", 1) == Answer::Yours);
  CHECK(f.claim("k", 2) == Answer::Pending);
  CHECK(f.claim("k", 3) == Answer::Pending);
  CHECK(f.table.anyoneWaits());
  CHECK(f.table.result(keyOf("k")) == nullptr);
  CHECK(f.table.resolve(rowOf("k")) == std::vector<WorkerId>{2, 3});
  CHECK_FALSE(f.table.anyoneWaits());
  CHECK(f.claim("k", 4) == Answer::Hit);
  CHECK(f.row->runtime == 1.5);
  CHECK(f.table.result(keyOf("k"))->runtime == 1.5);
}

TEST_CASE("a released claim goes to whoever waited longest, or ends") {
  Fixture f;
  f.claim("k", 1);
  f.claim("k", 2);
  f.claim("k", 3);
  std::vector<ClaimTable::Passed> passed;
  f.table.release(keyOf("k"), 9, f.now, passed); // not its holder
  CHECK(passed.empty());
  f.table.release(keyOf("k"), 1, f.now, passed);
  REQUIRE(passed.size() == 1);
  CHECK(passed[0].to == 2);
  f.table.release(keyOf("k"), 2, f.now, passed);
  CHECK(passed[1].to == 3);
  f.table.release(keyOf("k"), 3, f.now, passed);
  CHECK(passed.size() == 2);
  CHECK(f.table.claims() == 0);
  CHECK(f.claim("k", 4) == Answer::Yours);
}

TEST_CASE("the claims of a dead worker pass on, and it waits no more") {
  Fixture f;
  f.claim("a", 1);
  f.claim("b", 1);
  f.claim("c", 2);
  f.claim("a", 2);
  f.claim("c", 1);
  f.claim("c", 3);
  auto passed = f.table.releaseAll(1, f.now);
  REQUIRE(passed.size() == 1);
  CHECK(passed[0].key == keyOf("a"));
  CHECK(passed[0].to == 2);
  CHECK(f.claim("b", 3) == Answer::Yours);
  CHECK(f.table.resolve(rowOf("c")) == std::vector<WorkerId>{3});
}

TEST_CASE("a worker may wait for itself, in another batch") {
  Fixture f;
  CHECK(f.claim("k", 1) == Answer::Yours);
  CHECK(f.claim("k", 1) == Answer::Pending);
  CHECK(f.table.resolve(rowOf("k")) == std::vector<WorkerId>{1});
}

TEST_CASE("claims that others wait for expire") {
  Fixture f;
  f.claim("slow", 1);
  f.claim("slow", 2);
  f.claim("unwanted", 1);
  f.now += std::chrono::seconds(5);
  CHECK(f.table.expire(std::chrono::seconds(10), f.now).empty());
  f.now += std::chrono::seconds(6);
  auto passed = f.table.expire(std::chrono::seconds(10), f.now);
  REQUIRE(passed.size() == 1);
  CHECK(passed[0].to == 2);
  CHECK(f.table.claims() == 2);
}

TEST_CASE("results that are in the store are kept up to a bound") {
  ClaimTable table(10);
  std::vector<ResultRow> rows;
  for (int i = 0; i < 50; ++i) {
    rows.push_back(rowOf(std::to_string(i)));
    table.resolve(rows.back());
  }
  CHECK(table.results() == 50);
  table.settled(rows);
  CHECK(table.results() == 10);
  CHECK(table.result(keyOf("0")) == nullptr);
  CHECK(table.result(keyOf("49")) != nullptr);
}
