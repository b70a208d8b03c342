// Whole runs with real actors, a fake reader and stores in memory.
#include <algorithm>

#include <doctest/doctest.h>

#include "tests/actors/fakes.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {

// Files of which many have the same operations, and some cannot be used.
std::vector<std::string> manyFiles(const World& world, int count) {
  std::vector<std::string> files;
  for (int i = 0; i < count; ++i) {
    std::string ops = "add mul";
    for (int more = 0; more < i % 6; ++more)
      ops += " add";
    if (i % 10 == 7)
      ops += " bad";
    if (i % 10 == 5)
      ops = "broken";
    ops.append("\nfile ").append(std::to_string(i)).append(static_cast<size_t>(i * 37 % 300), '#');
    std::string name = std::to_string(1000 + i) + ".txt";
    files.push_back(world.folder.write(name, ops));
  }
  return files;
}

} // namespace

TEST_CASE("a run computes every item, records it and says so") {
  World world;
  SweepPlan plan = tinyPlan(
      {world.folder.write("a.txt", "add mul"), world.folder.write("b.txt", "add add add")}, 3);
  SweepOutcome outcome = world.run(plan, {.jobs = 2});
  CHECK(outcome.kind == SweepOutcome::Kind::Complete);
  CHECK(outcome.message == "");
  CHECK(outcome.ok == 6);
  CHECK(outcome.computed == 6);
  CHECK(outcome.hits == 0);
  CHECK(outcome.notRun == 0);
  CHECK(world.record.outcome == "complete");
  REQUIRE(world.record.shards.size() == 2);
  const ShardRecord& second = world.record.shards.at({1, 0});
  REQUIRE(second.items.size() == 3);
  CHECK(second.items[0].result.runtime == 3.0);
  CHECK(second.items[2].result.runtime == 1.0);
  CHECK(world.store.rows.size() == 6);
  CHECK(world.store.files.size() == 2);
  CHECK(world.store.configurations.size() == 3);
  CHECK(world.reader.reads == 2);
}

TEST_CASE("a warm run parses nothing, loads no table and computes nothing") {
  World world;
  SweepPlan plan = tinyPlan(manyFiles(world, 30), 4);
  SweepOutcome cold = world.run(plan, {.jobs = 2});
  std::string before = world.record.text();
  int reads = world.reader.reads;
  world.record.shards.clear();
  world.store.tablesGiven = 0;
  int estimates = TinyEstimator::estimates;
  SweepOutcome warm = world.run(plan, {.jobs = 2});
  CHECK(warm.kind == SweepOutcome::Kind::Failed);
  CHECK(warm.computed == 0);
  CHECK(warm.hits == cold.hits + cold.computed);
  CHECK(world.record.text() == before);
  CHECK(world.reader.reads == reads);
  CHECK(TinyEstimator::estimates == estimates);
  // Only modules with a failure that has a place need their table.
  CHECK(world.store.tablesGiven == 3);
}

TEST_CASE("results and statistics are the same for any number of actors") {
  std::string items, statistics;
  uint64_t hits = 0, computed = 0;
  for (int jobs : {1, 2, 8}) {
    World world;
    SweepPlan plan = tinyPlan(manyFiles(world, 60), 300);
    SweepOutcome outcome = world.run(plan, {.jobs = jobs});
    CHECK(outcome.kind == SweepOutcome::Kind::Failed);
    CHECK(outcome.ok + outcome.failed == 60 * 300);
    std::string text = world.record.text();
    // The scratch folder is another one each time.
    std::string folder = world.folder.path();
    for (size_t at; (at = text.find(folder)) != std::string::npos;)
      text.erase(at, folder.size());
    std::string merged = world.record.mergedStatistics().serialise(false);
    if (jobs == 1) {
      items = text;
      statistics = merged;
      hits = outcome.hits;
      computed = outcome.computed;
      continue;
    }
    CHECK(text == items);
    CHECK(merged == statistics);
    CHECK(outcome.hits == hits);
    CHECK(outcome.computed == computed);
  }
  CHECK(hits > 0);
}

TEST_CASE("metadata, state and the number of events are the same for any number of actors") {
  std::string events, metadata;
  for (int jobs : {1, 2, 8}) {
    World world;
    SweepPlan plan = tinyPlan(manyFiles(world, 40), 300);
    plan.estimators.front().name = "talking";
    SweepOutcome outcome = world.run(plan, {.jobs = jobs});
    CHECK(outcome.kind == SweepOutcome::Kind::Failed); // some files are broken
    std::string lines;
    size_t begins = 0;
    for (const auto& [place, shard] : world.record.shards)
      for (const ItemRecord& item : shard.items) {
        lines +=
            std::to_string(shard.module) + ' ' + std::to_string(item.point) + '\n' + item.events;
        begins += item.events.starts_with("{\"event_name\":\"begin\"") ? 1 : 0;
      }
    // Which of two equal modules is computed depends on who was first; how many are does not.
    CHECK(begins == outcome.computed);
    const Json said = outcome.metadata.at("talking");
    CHECK(said.at("runs") == outcome.computed);
    CHECK(said.at("hits") == outcome.hits);
    CHECK(said.at("rate") == 1); // of the first point of the plan
    if (jobs == 1) {
      events = lines;
      metadata = outcome.metadata.dump();
      continue;
    }
    CHECK(outcome.metadata.dump() == metadata);
  }
  CHECK(events.find("\"hit\"") != std::string::npos);
}

TEST_CASE("events and samples of different modules come in the order of the plan") {
  std::string events, statistics;
  for (int jobs : {1, 2, 8}) {
    World world;
    std::vector<std::string> files;
    std::string ops = "add";
    for (int i = 0; i < 30; ++i, ops += " mul")
      files.push_back(world.folder.write(std::to_string(1000 + i), ops));
    SweepPlan plan = tinyPlan(files, 20);
    plan.estimators.front().name = "talking";
    CHECK(world.run(plan, {.jobs = jobs}).kind == SweepOutcome::Kind::Complete);
    std::string lines;
    for (const auto& [place, shard] : world.record.shards)
      for (const ItemRecord& item : shard.items)
        lines += item.events;
    const std::string merged = world.record.mergedStatistics().serialise(false);
    if (jobs == 1) {
      events = lines;
      statistics = merged;
    }
    CHECK(lines == events);
    CHECK(merged == statistics);
    CHECK(world.record.mergedStatistics().find("last_rate")->value() == 20);
  }
}

TEST_CASE("equal fingerprints are computed once") {
  World world;
  std::vector<std::string> files;
  for (int i = 0; i < 40; ++i)
    files.push_back(
        world.folder.write(std::to_string(i), std::string("add mul\n").append(std::to_string(i))));
  TinyEstimator::estimates = 0;
  SweepOutcome outcome = world.run(tinyPlan(files, 5), {.jobs = 4});
  CHECK(outcome.computed == 5);
  CHECK(outcome.hits == 195);
  CHECK(TinyEstimator::estimates == 5);
}

TEST_CASE("a module is parsed once however many chunks its points make") {
  World world;
  SweepOutcome outcome =
      world.run(tinyPlan({world.folder.write("a", "add mul")}, 3000), {.jobs = 4});
  CHECK(outcome.ok == 3000);
  CHECK(world.reader.reads == 1);
  CHECK(world.record.shards.size() == 12);
}

TEST_CASE("without a cache nothing is read, kept or merged") {
  World world;
  world.store.broken = true; // would throw if it were touched
  SweepPlan plan =
      tinyPlan({world.folder.write("a", "add\n1"), world.folder.write("b", "add\n2")}, 3);
  plan.cacheMode = CacheMode::Disabled;
  TinyEstimator::estimates = 0;
  SweepOutcome outcome = world.run(plan, {.jobs = 2});
  CHECK(outcome.kind == SweepOutcome::Kind::Complete);
  CHECK(outcome.computed == 6);
  CHECK(outcome.hits == 0);
  CHECK(TinyEstimator::estimates == 6);
}

namespace {

class Listener final : public ProgressListener {
public:
  void onProgress(const Progress& progress) override { last = progress; }
  void onWarning(const std::string& text) override { warnings.push_back(text); }
  Progress last;
  std::vector<std::string> warnings;
};

} // namespace

TEST_CASE("a cache that breaks is one warning, and the run goes on") {
  World world;
  world.store.broken = true;
  Listener listener;
  SweepServices services = world.services();
  services.progress = &listener;
  SweepOutcome outcome = runSweep(tinyPlan(manyFiles(world, 20), 3), services, {.jobs = 2});
  CHECK(outcome.ok + outcome.failed == 60);
  REQUIRE(listener.warnings.size() == 1);
  CHECK(listener.warnings[0] == "going on without the result cache: the cache is broken");
  CHECK(listener.last.itemsDone == 60);
  CHECK(listener.last.itemsTotal == 60);
}

TEST_CASE("a full disk stops the run and keeps what is committed") {
  World world;
  world.record.capacity = 20;
  SweepOutcome outcome = world.run(tinyPlan(manyFiles(world, 200), 40), {.jobs = 2});
  CHECK(outcome.kind == SweepOutcome::Kind::StoppedByStorage);
  CHECK(outcome.message == "the disk is full");
  CHECK(outcome.ok + outcome.failed == world.record.itemCount());
  CHECK(outcome.ok + outcome.failed + outcome.notRun == 200 * 40);
  CHECK(world.record.outcome == "stopped: the disk is full");
}

TEST_CASE("what is committed is not done again") {
  World world;
  SweepPlan plan = tinyPlan(manyFiles(world, 100), 300);
  world.record.capacity = 50;
  world.run(plan, {.jobs = 2});
  size_t before = world.record.itemCount();
  world.record.capacity = SIZE_MAX;
  SweepOutcome outcome = world.run(plan, {.jobs = 2});
  CHECK(outcome.earlier == before);
  CHECK(outcome.ok + outcome.failed + outcome.earlier == 100 * 300);
  CHECK(world.record.itemCount() == 100 * 300);
  CHECK(world.record.repeatedShards == 0);
  SweepOutcome again = world.run(plan, {.jobs = 2});
  CHECK(again.earlier == 100 * 300);
  CHECK(again.kind == SweepOutcome::Kind::Complete);
}

TEST_CASE("a stop request ends the run early with everything counted committed") {
  World world;
  std::stop_source stop;
  world.record.onCommit = [&](size_t) { stop.request_stop(); };
  SweepControl control{.jobs = 2};
  control.stop = stop.get_token();
  SweepOutcome outcome = world.run(tinyPlan(manyFiles(world, 2000), 20), control);
  CHECK(outcome.kind == SweepOutcome::Kind::Interrupted);
  CHECK(outcome.notRun > 0);
  CHECK(outcome.ok + outcome.failed == world.record.itemCount());
  CHECK(world.record.outcome == "interrupted");
}

TEST_CASE("after the grace period a shard is abandoned between two items") {
  World world;
  std::stop_source stop;
  SweepControl control{.jobs = 1};
  control.stop = stop.get_token();
  control.graceSeconds = 0;
  estimateGate().close();
  std::jthread operatorAtWork([&] {
    estimateGate().waitForVisitors(1);
    stop.request_stop();
    // The request is on its way; whenever it arrives, there is more to do than is done by then.
    estimateGate().open();
  });
  SweepPlan plan = tinyPlan({world.folder.write("a", "add mul add mul")}, 200000);
  SweepOutcome outcome = world.run(plan, control);
  CHECK(outcome.kind == SweepOutcome::Kind::Interrupted);
  CHECK(outcome.notRun > 0);
}

TEST_CASE("a run that is stopped before it began does nothing") {
  World world;
  std::stop_source stop;
  stop.request_stop();
  SweepControl control{.jobs = 2};
  control.stop = stop.get_token();
  SweepOutcome outcome = world.run(tinyPlan(manyFiles(world, 50), 5), control);
  CHECK(outcome.kind == SweepOutcome::Kind::Interrupted);
  CHECK(outcome.notRun > 0);
  CHECK(world.record.outcome == "interrupted");
}

TEST_CASE("fail-fast stops after the first failed item") {
  World world;
  std::vector<std::string> files{world.folder.write("a", "bad " + std::string(9000, '#'))};
  for (int i = 0; i < 3000; ++i)
    files.push_back(world.folder.write(std::string("m").append(std::to_string(i)),
                                       std::string("add\n").append(std::to_string(i))));
  SweepOutcome outcome = world.run(tinyPlan(files, 1), {.jobs = 2, .failFast = true});
  CHECK(outcome.kind == SweepOutcome::Kind::StoppedByFailFast);
  CHECK(outcome.failed >= 1);
  CHECK(outcome.notRun > 0);
  CHECK(world.record.outcome == "stopped: an item failed");
}

TEST_CASE("a confined estimator runs in one actor, in the order of the plan") {
  World world;
  LonelyEstimator::threads.clear();
  LonelyEstimator::modules.clear();
  std::vector<std::string> files;
  for (int i = 0; i < 50; ++i) {
    std::string text = "add mul\n" + std::string(static_cast<size_t>(i * 7 % 50), '#');
    files.push_back(world.folder.write(std::to_string(100 + i), text));
  }
  SweepPlan plan = tinyPlan(files, 300);
  EstimatorEntry lonely;
  lonely.name = "lonely";
  plan.estimators.push_back(lonely);
  plan.index();
  plan.cacheMode = CacheMode::Disabled;
  SweepOutcome outcome = world.run(plan, {.jobs = 4});
  CHECK(outcome.kind == SweepOutcome::Kind::Complete);
  CHECK(outcome.confinedEstimators == std::vector<std::string>{"lonely"});
  CHECK(LonelyEstimator::threads.size() == 1);
  CHECK(LonelyEstimator::modules.size() == 50);
  CHECK(world.record.shards.contains({0, 300}));
}

TEST_CASE("an estimator whose hooks see hits gets the module of each") {
  World world;
  CuriousEstimator::hits = 0;
  SweepPlan plan = tinyPlan({world.folder.write("a", "add"), world.folder.write("b", "mul")}, 1);
  plan.estimators[0] = EstimatorEntry{"curious", Json::object(), {}, ""};
  plan.index();
  world.run(plan, {.jobs = 1});
  CHECK(CuriousEstimator::hits == 0);
  world.record.shards.clear();
  SweepOutcome warm = world.run(plan, {.jobs = 1});
  CHECK(warm.hits == 2);
  CHECK(CuriousEstimator::hits == 2);
  CHECK(world.reader.reads == 2);
}

TEST_CASE("failures are items with kind and place, found again for cached rows") {
  World world;
  SweepPlan plan = tinyPlan({world.folder.write("broken.txt", "broken\n"),
                             world.folder.write("bad.txt", "add bad"),
                             world.folder.write("bug.txt", "bug"), world.folder / "missing.txt",
                             world.folder.write("twin.txt", "add bad\nthe same again")},
                            2);
  for (int round = 0; round < 2; ++round) {
    CAPTURE(round);
    SweepOutcome outcome = world.run(plan, {.jobs = 2});
    CHECK(outcome.failed == 10);
    auto failure = [&](uint64_t module) {
      return *world.record.shards.at({module, 0}).items[1].failure;
    };
    CHECK((failure(0).kind == FailureKind::Unreadable));
    CHECK(failure(0).text() == plan.modules[0].path + ":2:3: this is no module");
    CHECK((failure(1).kind == FailureKind::UnsupportedOp));
    CHECK(failure(1).text() == plan.modules[1].path + ":11:5: tiny has no rule for bad");
    CHECK((failure(2).kind == FailureKind::Internal));
    CHECK(failure(2).message == "a bug in the handler");
    CHECK((failure(3).kind == FailureKind::Unreadable));
    CHECK(failure(3).file == plan.modules[3].path);
    CHECK(failure(4).text() == plan.modules[4].path + ":11:5: tiny has no rule for bad");
    CHECK_FALSE(world.record.shards.at({0, 0}).facts.has_value());
    world.record.shards.clear();
  }
  // The bug is tried again, what cannot be read is not read again.
  CHECK(world.reader.reads == 4);
}

TEST_CASE("a point whose options do not fit is a failed item of its own") {
  World world;
  SweepPlan plan = tinyPlan({world.folder.write("a", "add")}, 3);
  plan.estimators[0].grid[0].values[1] = -5;
  SweepOutcome outcome = world.run(plan, {.jobs = 1});
  CHECK(outcome.ok == 2);
  CHECK(outcome.failed == 1);
  const ItemRecord& item = world.record.shards.at({0, 0}).items[1];
  CHECK((item.failure->kind == FailureKind::BadConfig));
}

TEST_CASE("thousands of modules with little to do take bounded memory and little time") {
  World world;
  world.record.keepItems = false;
  std::string path = world.folder.write("a", "add mul");
  SweepPlan plan = tinyPlan(std::vector<std::string>(20000, path), 1);
  SweepOutcome outcome = world.run(plan, {.jobs = 2});
  CHECK(outcome.ok == 20000);
  CHECK(outcome.computed == 1);
  CHECK(world.reader.reads == 1);
}

TEST_CASE("an empty plan is complete at once") {
  World world;
  CHECK(world.run(tinyPlan({}, 3), {.jobs = 2}).kind == SweepOutcome::Kind::Complete);
}

TEST_CASE("an unknown estimator is a usage error") {
  World world;
  SweepPlan plan = tinyPlan({world.folder.write("a", "add")}, 1);
  plan.estimators[0].name = "nobody";
  CHECK_THROWS_AS(world.run(plan, {.jobs = 1}), UsageError);
}
