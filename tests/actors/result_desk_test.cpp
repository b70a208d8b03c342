#include "actors/result_desk.h"

#include <doctest/doctest.h>

#include "tests/actors/fakes.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {

struct Fixture {
  Fixture() {
    EstimatorRegistry registry;
    addTestEstimators(registry);
    plan.emplace(tinyPlan({"a", "b"}, 4), registry.lookup());
    desk.emplace(&store, record, claims, *plan, "fake reader");
  }
  Lookup question(WorkerId worker, std::vector<std::string> names) {
    Lookup lookup;
    lookup.worker = worker;
    for (const std::string& name : names)
      lookup.keys.push_back(hashBytes(name));
    return lookup;
  }
  static ResultRow row(const std::string& name) {
    ResultRow made;
    made.key = hashBytes(name);
    made.success = true;
    made.runtime = 2;
    return made;
  }
  static ShardDone shard(uint64_t module, uint64_t first, uint32_t points) {
    ShardDone done;
    done.record.module = module;
    done.record.firstPoint = first;
    for (uint32_t i = 0; i < points; ++i) {
      ItemRecord item;
      item.point = first + i;
      item.status = ItemStatus::Ok;
      done.record.items.push_back(item);
    }
    StatisticsTree statistics;
    statistics.root().count("items").add(points);
    done.record.statistics = statistics.serialise(true);
    done.tally = {module, first, points, 0, points, 0, 0, points};
    return done;
  }
  Put put(WorkerId worker, std::vector<ResultRow> rows, std::vector<ShardDone> shards) {
    Put made;
    made.worker = worker;
    made.rows = std::move(rows);
    made.shards = std::move(shards);
    return made;
  }
  StoreLog log;
  FakeStore store{&log};
  FakeRecord record{&log};
  ClaimTable claims{100};
  std::optional<ShardPlan> plan;
  std::optional<ResultDesk> desk;
  ResultDesk::Clock::time_point now{};
};

} // namespace

TEST_CASE("a look-up is answered at once, in three lists") {
  Fixture f;
  f.store.rows[hashBytes("old")] = Fixture::row("old");
  f.desk->lookup(f.question(1, {"claimed"}), f.now);
  LookupReply reply = f.desk->lookup(f.question(2, {"new", "old", "claimed"}), f.now);
  REQUIRE(reply.hits.size() == 1);
  CHECK(reply.hits[0].first == 1);
  CHECK(reply.yours == std::vector<uint32_t>{0});
  CHECK(reply.pending == std::vector<uint32_t>{2});
}

TEST_CASE("the record is committed before the cache, and only then is a shard safe") {
  Fixture f;
  f.desk->put(f.put(1, {Fixture::row("k")}, {Fixture::shard(0, 0, 4)}), f.now);
  CHECK(f.log.all().empty());
  CHECK(f.desk->anythingWaits());
  CHECK(f.desk->waitingRows() == 5);
  std::vector<ShardTally> safe = f.desk->flush();
  CHECK(f.log.all() == std::vector<std::string>{"record commit 1", "cache commit 1"});
  REQUIRE(safe.size() == 1);
  CHECK(safe[0].ok == 4);
  CHECK_FALSE(f.desk->anythingWaits());
}

TEST_CASE("who waits for a key learns of it before the commit") {
  Fixture f;
  f.desk->lookup(f.question(1, {"k", "l"}), f.now);
  f.desk->lookup(f.question(2, {"k"}), f.now);
  f.desk->lookup(f.question(2, {"k"}), f.now);
  f.desk->lookup(f.question(3, {"l"}), f.now);
  Put put = f.put(1, {Fixture::row("k")}, {});
  put.released.push_back(hashBytes("l"));
  ResultDesk::Answers answers = f.desk->put(std::move(put), f.now);
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].first == 3);
  CHECK(answers[0].second.keys[0].yours);
  CHECK(answers[1].first == 2);
  REQUIRE(answers[1].second.keys.size() == 1);
  CHECK_FALSE(answers[1].second.keys[0].yours);
  CHECK(answers[1].second.keys[0].row.runtime == 2);
  CHECK(f.desk->lookup(f.question(4, {"k"}), f.now).hits.size() == 1);
}

TEST_CASE("claims of a dead worker pass to who waits") {
  Fixture f;
  f.desk->lookup(f.question(1, {"k"}), f.now);
  f.desk->lookup(f.question(2, {"k"}), f.now);
  ResultDesk::Answers answers = f.desk->workerGone(1, f.now);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].first == 2);
  CHECK(answers[0].second.keys[0].yours);
}

TEST_CASE("a record that cannot be written gives the shards back") {
  Fixture f;
  f.record.capacity = 1;
  f.desk->put(f.put(1, {Fixture::row("k")}, {Fixture::shard(0, 0, 4)}), f.now);
  CHECK(f.desk->flush().size() == 1);
  f.desk->put(f.put(1, {Fixture::row("l")}, {Fixture::shard(1, 0, 4)}), f.now);
  CHECK(f.desk->flush().empty());
  CHECK(f.desk->recordError() == "the disk is full");
  CHECK(f.desk->takeDropped().size() == 1);
  f.desk->put(f.put(1, {}, {Fixture::shard(1, 0, 4)}), f.now);
  CHECK(f.desk->takeDropped().size() == 1);
  CHECK(f.record.shards.size() == 1);
}

TEST_CASE("a cache that breaks is one warning and a memory") {
  Fixture f;
  f.store.broken = true;
  CHECK(f.desk->lookup(f.question(1, {"k"}), f.now).yours.size() == 1);
  CHECK(f.desk->takeWarnings().size() == 1);
  f.desk->put(f.put(1, {Fixture::row("k")}, {Fixture::shard(0, 0, 4)}), f.now);
  CHECK(f.desk->flush().size() == 1);
  CHECK(f.desk->lookup(f.question(2, {"k"}), f.now).hits.size() == 1);
  CHECK(f.desk->takeWarnings().empty());
  FileLookup files;
  files.contentHashes.push_back(hashBytes("x"));
  CHECK(f.desk->files(files).found == std::vector<uint8_t>{0});
}

TEST_CASE("pieces of a chunk are recorded when the chunk is whole") {
  Fixture f;
  f.desk->put(f.put(1, {}, {Fixture::shard(0, 2, 2)}), f.now);
  CHECK(f.desk->flush().size() == 1);
  CHECK(f.record.shards.empty());
  f.desk->put(f.put(2, {}, {Fixture::shard(0, 0, 1)}), f.now);
  f.desk->put(f.put(2, {}, {Fixture::shard(0, 1, 1)}), f.now);
  CHECK(f.desk->flush().size() == 2);
  REQUIRE(f.record.shards.size() == 1);
  const ShardRecord& whole = f.record.shards.at({0, 0});
  REQUIRE(whole.items.size() == 4);
  for (uint64_t i = 0; i < 4; ++i)
    CHECK(whole.items[i].point == i);
  CHECK(f.record.mergedStatistics().find("items")->value() == 4.0);
}

TEST_CASE("the outcome is written last") {
  Fixture f;
  CHECK(f.desk->finish("complete") == "");
  CHECK(f.record.outcome == "complete");
}
