// Workers that die: their shards come back, and what kills is found.
#include <caf/stateful_actor.hpp>

#include <doctest/doctest.h>

#include "actors/sweep_actors.h"
#include "tests/actors/fakes.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {

using Kills = std::function<bool(const Shard&)>;

struct FragileState {
  static constexpr const char* name = "fragile";
  EstimatorSetup setup;
};

// An estimator actor without a cache that falls dead when it sees certain shards.
EstimatorHandle::behavior_type fragile(EstimatorHandle::stateful_pointer<FragileState> self,
                                       EstimatorSetup setup, Kills kills) {
  self->state.setup = setup;
  self->set_default_handler(caf::drop);
  self->send(setup.supervisor, WorkerIdle{setup.id, 0, 0});
  return {
      [self, kills](Batch& batch) {
        const EstimatorSetup& mine = self->state.setup;
        if (std::ranges::any_of(batch.shards, kills)) {
          self->quit(caf::make_error(caf::sec::runtime_error, std::string("struck down")));
          return;
        }
        ShardWork work(*mine.context, std::move(batch.shards));
        work.files({});
        work.keysToAsk();
        work.compute();
        Put put = work.takePut();
        put.worker = mine.id;
        put.urgent = true;
        self->send(mine.cache, std::move(put));
        self->send(mine.supervisor, WorkerIdle{mine.id, 0.001, 1e5});
      },
      [](const Resolved&) {},
  };
}

WorkerWrapper fragileWorkers(Kills kills, std::atomic<int>* spawned) {
  return [kills, spawned](caf::actor_system& system, EstimatorSetup setup) {
    ++*spawned;
    return system.spawn<caf::detached>(fragile, std::move(setup), kills);
  };
}

SweepPlan plainPlan(const World& world, int modules, int points) {
  std::vector<std::string> files;
  for (int i = 0; i < modules; ++i)
    files.push_back(world.folder.write(std::to_string(100 + i),
                                       std::string("add\n").append(std::to_string(i))));
  SweepPlan plan = tinyPlan(files, points);
  plan.cacheMode = CacheMode::Disabled;
  return plan;
}

} // namespace

TEST_CASE("the shards of a worker that dies once are done by its replacement") {
  World world;
  std::atomic<int> spawned{0}, deaths{0};
  Kills once = [&](const Shard& shard) { return shard.module() == 3 && deaths.fetch_add(1) == 0; };
  SweepOutcome outcome = runSweepWith(plainPlan(world, 20, 10), world.services(), {.jobs = 2},
                                      fragileWorkers(once, &spawned));
  CHECK(outcome.kind == SweepOutcome::Kind::Complete);
  CHECK(outcome.ok == 200);
  CHECK(spawned == 3);
  CHECK(world.record.shards.at({3, 0}).attempts == 2);
  CHECK(world.record.repeatedShards == 0);
}

TEST_CASE("an item that kills is found and recorded, everything else is computed") {
  World world;
  std::atomic<int> spawned{0};
  Kills poison = [](const Shard& shard) {
    return shard.module() == 2 && shard.firstPoint <= 300 && 300 < shard.firstPoint + shard.points;
  };
  SweepOutcome outcome = runSweepWith(plainPlan(world, 5, 400), world.services(), {.jobs = 2},
                                      fragileWorkers(poison, &spawned));
  CHECK(outcome.kind == SweepOutcome::Kind::Failed);
  CHECK(outcome.ok == 1999);
  CHECK(outcome.failed == 1);
  const ShardRecord& shard = world.record.shards.at({2, 256});
  REQUIRE(shard.items.size() == 144);
  const ItemRecord& item = shard.items[44];
  CHECK(item.point == 300);
  CHECK((item.failure->kind == FailureKind::Crashed));
  CHECK(item.failure->message.find("struck down") != std::string::npos);
  CHECK(shard.items[43].status == ItemStatus::Ok);
  CHECK(shard.facts.has_value());
}

TEST_CASE("a run in which workers only die is ended") {
  World world;
  std::atomic<int> spawned{0};
  SweepControl control{.jobs = 2};
  control.restartLimit = 5;
  SweepOutcome outcome = runSweepWith(plainPlan(world, 5, 400), world.services(), control,
                                      fragileWorkers([](const Shard&) { return true; }, &spawned));
  CHECK(outcome.kind == SweepOutcome::Kind::StoppedByRestarts);
  CHECK(outcome.notRun == 2000);
  CHECK(outcome.message.find("struck down") != std::string::npos);
  CHECK(spawned <= 7);
}
