#include "actors/shard_plan.h"

#include <doctest/doctest.h>

#include "tests/actors/fakes.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {

ShardPlan cut(const SweepPlan& plan) {
  static EstimatorRegistry registry = [] {
    EstimatorRegistry made;
    addTestEstimators(made);
    return made;
  }();
  return ShardPlan(plan, registry.lookup());
}

} // namespace

TEST_CASE("points are cut into chunks of 256") {
  ShardPlan shards = cut(tinyPlan({"a"}, 600));
  REQUIRE(shards.chunks().size() == 3);
  CHECK(shards.chunks()[1].first == 256);
  CHECK(shards.chunks()[2].points == 88);
  CHECK(shards.chunkAt(256) == 1);
  CHECK(shards.chunkAt(257) == 3);
  CHECK(shards.pointCount() == 600);
  CHECK(shards.confinedEstimators().empty());
}

TEST_CASE("a chunk never mixes confined estimators with free ones") {
  SweepPlan plan = tinyPlan({"a"}, 300);
  plan.estimators.push_back({"lonely", Json::object(), {}, ""});
  plan.estimators.push_back({"lonely", Json::object({{"unknown_op", "skip"}}), {}, ""});
  plan.estimators.push_back(tinyEntry(10));
  plan.index();
  ShardPlan shards = cut(plan);
  REQUIRE(shards.chunks().size() == 4);
  CHECK(shards.chunks()[1].first == 256);
  CHECK_FALSE(shards.chunks()[1].confined);
  CHECK(shards.chunks()[2].first == 300);
  CHECK(shards.chunks()[2].points == 2);
  CHECK(shards.chunks()[2].confined);
  CHECK(shards.chunks()[3].first == 302);
  CHECK_FALSE(shards.chunks()[3].confined);
  CHECK(shards.confinedEstimators() == std::vector<std::string>{"lonely"});
}
