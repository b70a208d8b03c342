#include "actors/shard_queue.h"

#include <doctest/doctest.h>

#include "tests/actors/fakes.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {

struct Fixture {
  explicit Fixture(int points, uint64_t modules, ShardQueue::Limits limits = {},
                   bool lonely = false)
      : plan(makePlan(points, lonely)), queue(plan, modules, limits) {}
  static ShardPlan makePlan(int points, bool lonely) {
    EstimatorRegistry registry;
    addTestEstimators(registry);
    SweepPlan sweep = tinyPlan({}, points);
    if (lonely)
      sweep.estimators.push_back({"lonely", Json::object(), {}, ""});
    sweep.index();
    return ShardPlan(sweep, registry.lookup());
  }
  void arrive(std::vector<uint64_t> sizes, uint64_t first = 0) {
    for (uint64_t bytes : sizes)
      queue.arrived({first++, bytes, {}, {}});
  }
  static ShardTally tally(const Shard& shard) {
    return {shard.module(), shard.firstPoint, shard.points, shard.chunk, shard.points, 0, 0,
            shard.points};
  }
  ShardPlan plan;
  ShardQueue queue;
};

} // namespace

TEST_CASE("the largest file goes out first, its chunks together") {
  Fixture f(300, 3);
  f.arrive({10, 30, 20});
  std::vector<Shard> one = f.queue.take(1, true, 1), two = f.queue.take(1, true, 1),
                     three = f.queue.take(1, true, 1);
  REQUIRE(one.size() == 1);
  CHECK(one[0].module() == 1);
  CHECK(one[0].firstPoint == 0);
  CHECK(two[0].module() == 1);
  CHECK(two[0].firstPoint == 256);
  CHECK(three[0].module() == 2);
}

TEST_CASE("files are read as far as the window reaches beyond what is not handed out") {
  Fixture f(1, 1000, {.window = 10});
  CHECK(f.queue.readLimit() == 10);
  f.arrive({5, 9, 9});
  CHECK(f.queue.readLimit() == 10);
  f.queue.take(1, true, 1);
  f.queue.take(1, true, 1);
  CHECK(f.queue.readLimit() == 10); // module 0, the smallest, is left
  f.queue.take(1, true, 1);
  CHECK(f.queue.readLimit() == 13);
}

TEST_CASE("what was committed earlier is neither read nor handed out") {
  Fixture f(300, 2);
  CHECK(f.queue.skip({{0, 0}, {0, 256}, {1, 256}, {1, 77}, {9, 0}}) == 300 + 44);
  CHECK(f.queue.wantedModules() == std::vector<bool>{false, true});
  CHECK(f.queue.itemsWanted() == 256);
  f.arrive({1}, 1);
  f.queue.allArrived();
  std::vector<Shard> only = f.queue.take(1, true, 1);
  REQUIRE(only.size() == 1);
  CHECK(only[0].firstPoint == 0);
  CHECK_FALSE(f.queue.finished());
  f.queue.committed(Fixture::tally(only[0]));
  CHECK(f.queue.finished());
  CHECK(f.queue.tally().items == 256);
}

TEST_CASE("cheap shards travel together, up to the limits") {
  Fixture f(1, 1000, {.window = 1000, .batchShards = 16});
  f.arrive(std::vector<uint64_t>(500, 100));
  CHECK(f.queue.take(1, true, 2).size() == 1); // nothing is known of the cost
  f.queue.measured(1e-5, ShardQueue::weightOf({{0, 100, {}, {}}, 0, 1, 0, 0}));
  CHECK(f.queue.take(1, true, 2).size() == 16);
  CHECK(f.queue.take(1, true, 60).size() == 4); // many workers want their share
}

TEST_CASE("expensive shards travel alone") {
  Fixture f(1, 1000, {.window = 1000});
  f.arrive(std::vector<uint64_t>(500, 100));
  f.queue.measured(1.0, ShardQueue::weightOf({{0, 100, {}, {}}, 0, 1, 0, 0}));
  CHECK(f.queue.take(1, true, 2).size() == 1);
}

TEST_CASE("nobody fetches ahead when others would be left with nothing") {
  Fixture f(1, 2);
  f.arrive({1, 1});
  CHECK(f.queue.take(1, true, 2).size() == 1);
  CHECK(f.queue.isIdle(2));
  CHECK(f.queue.take(1, true, 2).empty());
  CHECK(f.queue.take(2, false, 2).size() == 1);
}

TEST_CASE("the last chunk of a module is left to who has nothing") {
  Fixture f(600, 1);
  f.arrive({1});
  CHECK(f.queue.take(1, true, 2).size() == 1);
  CHECK(f.queue.take(1, true, 2).size() == 1); // two are left, enough for both
  CHECK(f.queue.take(1, true, 2).empty());
  CHECK(f.queue.take(2, false, 2).size() == 1);
}

TEST_CASE("a worker gets no more while too much of its work is not committed") {
  Fixture f(1, 100, {.workerShards = 2});
  f.arrive(std::vector<uint64_t>(10, 1));
  std::vector<Shard> first = f.queue.take(1, true, 1);
  CHECK(f.queue.take(1, true, 1).size() == 1);
  CHECK(f.queue.take(1, true, 1).empty());
  f.queue.committed(Fixture::tally(first[0]));
  CHECK(f.queue.take(1, true, 1).size() == 1);
}

TEST_CASE("confined shards go to one worker in plan order") {
  Fixture f(1, 3, {}, true);
  f.arrive({1, 5, 3});
  auto isConfined = [&](const Shard& shard) { return f.plan.chunks()[shard.chunk].confined; };
  std::vector<uint64_t> confined;
  for (int i = 0; i < 3; ++i) {
    std::vector<Shard> free = f.queue.take(2, false, 1);
    REQUIRE(free.size() == 1);
    CHECK_FALSE(isConfined(free[0]));
    std::vector<Shard> mine = f.queue.take(1, true, 1);
    REQUIRE(mine.size() == 1);
    CHECK(isConfined(mine[0]));
    confined.push_back(mine[0].module());
  }
  CHECK(confined == std::vector<uint64_t>{0, 1, 2});
}

TEST_CASE("a dead worker's shard is tried again alone, then halved until one item is condemned") {
  Fixture f(8, 2);
  f.arrive({5, 1});
  f.queue.allArrived();
  WorkerId worker = 1;
  uint64_t poison = 5; // point of module 0 that kills
  std::vector<Shard> condemned;
  int deaths = 0;
  while (!f.queue.finished() && condemned.empty()) {
    std::vector<Shard> batch = f.queue.take(worker, true, 1);
    REQUIRE(batch.size() == 1);
    const Shard& shard = batch[0];
    if (deaths > 0 && shard.deaths > 0)
      CHECK(f.queue.take(worker, true, 1).empty()); // a suspect has nothing beside it
    bool kills = shard.module() == 0 && shard.firstPoint <= poison &&
                 poison < shard.firstPoint + shard.points;
    if (!kills) {
      f.queue.committed(Fixture::tally(shard));
      continue;
    }
    condemned = f.queue.lost(worker++);
    ++deaths;
  }
  REQUIRE(condemned.size() == 1);
  CHECK(condemned[0].firstPoint == poison);
  CHECK(condemned[0].points == 1);
  CHECK(deaths == 5);                // twice whole, then 4, 2, 1
  CHECK(f.queue.tally().items <= 8); // pieces do not count before the chunk is whole
  f.queue.committed({0, poison, 1, 0, 0, 1, 0, 0});
  while (!f.queue.finished()) {
    std::vector<Shard> batch = f.queue.take(worker, true, 1);
    REQUIRE(batch.size() == 1);
    f.queue.committed(Fixture::tally(batch[0]));
  }
  CHECK(f.queue.tally().items == 16);
  CHECK(f.queue.tally().failed == 1);
}

TEST_CASE("shards beside a suspect are not blamed for its deaths") {
  Fixture f(1, 2);
  f.arrive({1, 2});
  f.queue.allArrived();
  f.queue.take(1, true, 1);
  f.queue.take(1, true, 1);
  CHECK(f.queue.lost(1).empty());
  // Both are suspects now, and run one after the other.
  std::vector<Shard> first = f.queue.take(2, true, 1);
  REQUIRE(first.size() == 1);
  CHECK(f.queue.take(2, true, 1).empty());
  f.queue.committed(Fixture::tally(first[0]));
  std::vector<Shard> second = f.queue.take(2, true, 1);
  REQUIRE(second.size() == 1);
  CHECK(f.queue.lost(2).size() == 1);
}

TEST_CASE("shards given back are not in flight and not counted") {
  Fixture f(1, 1);
  f.arrive({1});
  f.queue.allArrived();
  std::vector<Shard> batch = f.queue.take(1, true, 1);
  CHECK_FALSE(f.queue.nothingInFlight());
  f.queue.returned(Fixture::tally(batch[0]));
  CHECK(f.queue.nothingInFlight());
  CHECK(f.queue.tally().items == 0);
}
