#include "actors/run_metadata.h"

#include <stdexcept>

#include <doctest/doctest.h>

#include "estimators/estimator.h"

using namespace nocturne;

namespace {

// Counts its instances that were absorbed; throws where it is told to.
class Fragile : public virtual ComputeEstimator {
public:
  static void describe(EstimatorClass<Fragile>& c) {
    c.name("fragile").extends<ComputeEstimator>();
    c.option("throws_in", &Fragile::throwsIn_, option::text).defaultValue("");
    c.opHandler({"test.op"}, &Fragile::handle);
    c.metadataHook(&Fragile::said).mergeWith<&Fragile::join>();
  }
  void addStatisticsTo(StatisticsTree& tree) const override {
    if (throwsIn_ == "statistics")
      throw std::runtime_error("no statistics");
    ComputeEstimator::addStatisticsTo(tree);
    tree.root().count("instances").add(count_);
  }

private:
  OpResult handle(const OpInfo&) { return OpResult::inSeconds(1); }
  Json said() {
    if (throwsIn_ == "hook")
      throw 42;
    return {{"instances", count_}};
  }
  void join(const Fragile& other) {
    if (other.throwsIn_ == "merge")
      throw 42;
    count_ += other.count_;
  }
  std::string throwsIn_;
  int count_ = 1;
};

struct Makes {
  Makes() { registry.add<Fragile>(); }
  std::shared_ptr<Estimator> one(const std::string& throwsIn = "") {
    return registry.make("fragile", {{"throws_in", throwsIn}});
  }
  ShardHarvest harvest(uint64_t planIndex, int instances) {
    ShardHarvest out;
    for (int i = 0; i < instances; ++i)
      out.take(planIndex + static_cast<uint64_t>(i), one());
    return out;
  }
  EstimatorRegistry registry;
};

} // namespace

TEST_CASE("metadata speak of what is committed, and of a shard that is done again once") {
  Makes makes;
  RunMetadata metadata;
  ShardHarvest first = makes.harvest(0, 3), again = makes.harvest(0, 3);
  ShardHarvest second = makes.harvest(10, 2), lost = makes.harvest(20, 5);
  metadata.propose(0, 0, first); // its worker died
  metadata.propose(0, 0, again);
  metadata.commit(0, 0);
  metadata.propose(1, 0, second);
  metadata.commit(1, 0);
  metadata.propose(2, 0, lost);
  CHECK(metadata.collect() == Json{{"fragile", {{"instances", 5}}}});
  CHECK(metadata.collect() == Json{{"fragile", {{"instances", 5}}}});
  CHECK(metadata.takeWarnings().empty());
}

TEST_CASE("a shard that has nothing to say when it is done again takes back what it said") {
  Makes makes;
  RunMetadata metadata;
  ShardHarvest first = makes.harvest(0, 3), nothing;
  metadata.propose(0, 0, first);
  metadata.propose(0, 0, nothing);
  metadata.commit(0, 0);
  CHECK(metadata.collect().is_null());
}

TEST_CASE("whatever a class throws costs what it gathered, and is told once") {
  Makes makes;
  RunMetadata metadata;
  ShardHarvest merging = makes.harvest(0, 1);
  merging.take(1, makes.one("merge"));
  merging.take(2, makes.one());
  CHECK(merging.serialisedStatistics() != "");
  ShardHarvest counting;
  counting.take(10, makes.one("statistics"));
  CHECK(counting.serialisedStatistics() == "");
  metadata.propose(0, 0, merging);
  metadata.commit(0, 0);
  metadata.propose(1, 0, counting);
  metadata.commit(1, 0);
  CHECK(metadata.collect() == Json{{"fragile", {{"instances", 3}}}});
  const std::vector<std::string> warnings = metadata.takeWarnings();
  REQUIRE(warnings.size() == 1);
  CHECK(warnings.front() == "what estimator fragile gathered is not complete: something was thrown "
                            "that is no exception");
  RunMetadata hooks;
  ShardHarvest throwing;
  throwing.take(0, makes.one("hook"));
  hooks.propose(0, 0, throwing);
  hooks.commit(0, 0);
  CHECK(hooks.collect().is_null());
  CHECK(hooks.takeWarnings().size() == 1);
}
