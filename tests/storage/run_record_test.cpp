#include "storage/run_record.h"

#include <filesystem>

#include <doctest/doctest.h>

#include "storage/run_reader.h"
#include "tests/storage/fixtures.h"

namespace nocturne {
namespace {

using namespace test;
namespace fs = std::filesystem;
using Shards = std::vector<std::pair<uint64_t, uint64_t>>;

bool sameItem(const ItemRecord& a, const ItemRecord& b) {
  return a.point == b.point && a.status == b.status && a.fromCache == b.fromCache &&
         a.result == b.result && a.failure == b.failure;
}

TEST_CASE("a record gives back what was put") {
  ScratchDir dir;
  SweepPlan plan = makePlan(dir.path(), 3, 300);
  ShardRecord first = makeShard(plan, 0, 0, 256), second = makeShard(plan, 2, 256, 44);
  {
    OpenedRun run = openRunRecord(dir / "out", plan, "1.2.3", R"({"host":"h"})");
    CHECK_FALSE(run.resumed);
    CHECK(run.warnings.empty());
    CHECK(run.record->doneShards().empty());
    run.record->begin();
    run.record->putShard(first);
    run.record->putShard(second);
    run.record->commit();
    CHECK(run.record->doneShards() == Shards{{0, 0}, {2, 256}});
    run.record->finish("complete");
    run.record->markReported();
  }
  CHECK_FALSE(exists(dir / "out/run.sqlite-wal"));
  RunReader reader(dir / "out");
  const RunFacts& facts = reader.facts();
  CHECK(facts.planDigest == plan.digest());
  CHECK(facts.plan.digest() == plan.digest());
  CHECK(facts.plan.modules[2].name == "m2.mlir");
  CHECK(facts.moduleCount == 3);
  CHECK(facts.pointCount == 300);
  CHECK(facts.outcome == "complete");
  CHECK(facts.nocturneVersion == "1.2.3");
  CHECK(facts.provenance == R"({"host":"h"})");
  CHECK(facts.started.size() == 20);
  CHECK(facts.finished >= facts.started);

  uint64_t index = 0;
  reader.forEachItem([&](const RunModule& module, const ItemRecord& item) {
    REQUIRE(module.index == index / 300);
    REQUIRE(item.point == index % 300);
    ++index;
    if (module.index == 0 && item.point < 256)
      REQUIRE(sameItem(item, first.items[item.point]));
    else if (module.index == 2 && item.point >= 256)
      REQUIRE(sameItem(item, second.items[item.point - 256]));
    else
      REQUIRE(item.status == ItemStatus::NotRun);
  });
  CHECK(index == 900);

  RunCounts counts = reader.counts();
  CHECK(counts.ok == 298);
  CHECK(counts.failed == 2);
  CHECK(counts.notRun == 600);
  CHECK(counts.cacheHits == 150);
}

TEST_CASE("modules have facts once they were read") {
  ScratchDir dir;
  SweepPlan plan = makePlan(dir.path(), 2, 10);
  {
    OpenedRun run = openRunRecord(dir / "out", plan);
    run.record->putShard(makeShard(plan, 1, 0, 10));
  }
  RunReader reader(dir / "out/run.sqlite");
  std::vector<RunModule> modules;
  reader.forEachModule([&](const RunModule& module) { modules.push_back(module); });
  REQUIRE(modules.size() == 2);
  CHECK(modules[0].name == "m0.mlir");
  CHECK_FALSE(modules[0].facts);
  ModuleFacts expected = makeFacts("module 1");
  REQUIRE(modules[1].facts);
  CHECK(modules[1].facts->fingerprint == expected.fingerprint);
  CHECK(modules[1].facts->assumptions == expected.assumptions);
  CHECK(modules[1].path == plan.modules[1].path);
}

TEST_CASE("shards come by module and first point, with what they were put with") {
  ScratchDir dir;
  SweepPlan plan = makePlan(dir.path(), 3, 300);
  {
    OpenedRun run = openRunRecord(dir / "out", plan);
    for (uint64_t module : {2, 0}) {
      run.record->putShard(makeShard(plan, module, 256, 44));
      run.record->putShard(makeShard(plan, module, 0, 256));
    }
  }
  RunReader reader(dir / "out");
  std::vector<std::string> shards;
  reader.forEachShard([&](const RunShard& shard) {
    CHECK(shard.attempts == 2);
    shards.push_back(std::to_string(shard.module) + "+" + std::to_string(shard.firstPoint) +
                     shard.statistics);
  });
  CHECK(shards == std::vector<std::string>{R"(0+0{"shard":0})", R"(0+256{"shard":256})",
                                           R"(2+0{"shard":0})", R"(2+256{"shard":256})"});
}

TEST_CASE("an empty plan has an empty record") {
  ScratchDir dir;
  for (auto [modules, points] : {std::pair{0, 5}, std::pair{2, 0}, std::pair{0, 0}}) {
    SweepPlan plan =
        makePlan(dir.path(), static_cast<uint64_t>(modules), static_cast<uint64_t>(points));
    if (points == 0)
      plan.estimators.clear();
    {
      OpenedRun run = openRunRecord(dir / "out", plan);
      CHECK(run.record->doneShards().empty());
      run.record->finish("complete");
      run.record->markReported();
    }
    RunReader reader(dir / "out");
    int calls = 0;
    reader.forEachItem([&](const auto&, const auto&) { ++calls; });
    reader.forEachShard([&](const auto&) { ++calls; });
    CHECK(calls == 0);
    CHECK(reader.counts().notRun == 0);
  }
}

TEST_CASE("a run that was not completed is resumed") {
  ScratchDir dir;
  SweepPlan plan = makePlan(dir.path(), 2, 300);
  {
    OpenedRun run = openRunRecord(dir / "out", plan, "1");
    run.record->putShard(makeShard(plan, 1, 0, 256));
    run.record->finish("interrupted");
  }
  {
    OpenedRun run = openRunRecord(dir / "out", plan, "1");
    CHECK(run.resumed);
    CHECK(run.warnings.empty());
    CHECK(run.record->doneShards() == Shards{{1, 0}});
    CHECK(RunReader(dir / "out").facts().outcome.empty());
    run.record->putShard(makeShard(plan, 1, 256, 44));
    run.record->finish("complete");
    run.record->markReported();
  }
  OpenedRun again = openRunRecord(dir / "out", plan, "1");
  CHECK_FALSE(again.resumed);
  CHECK(again.record->doneShards().empty());
  CHECK(RunReader(dir / "out/run.sqlite.old").counts().ok == 298);
}

TEST_CASE("another plan or version starts anew and keeps one old record") {
  ScratchDir dir;
  SweepPlan first = makePlan(dir.path(), 2, 300), second = makePlan(dir.path(), 2, 301);
  {
    openRunRecord(dir / "out", first, "1").record->putShard(makeShard(first, 0, 0, 4));
  }
  CHECK_FALSE(openRunRecord(dir / "out", second, "1").resumed);
  CHECK(RunReader(dir / "out/run.sqlite.old").facts().pointCount == 300);
  CHECK_FALSE(openRunRecord(dir / "out", second, "2").resumed);
  CHECK(RunReader(dir / "out/run.sqlite.old").facts().pointCount == 301);
  CHECK(namesWith(dir / "out", "").size() == 3); // record, old record, lock
}

TEST_CASE("an old record moves aside only when nobody reads it any more") {
  ScratchDir dir;
  SweepPlan first = makePlan(dir.path(), 2, 300), second = makePlan(dir.path(), 2, 301);
  {
    openRunRecord(dir / "out", first).record->putShard(makeShard(first, 0, 0, 4));
  }
  Child child([&](const auto& signal) {
    RunReader reader(dir / "out");
    signal();
    uint64_t items = 0;
    for (int i = 0; i < 200; ++i)
      reader.forEachItem([&](const auto&, const auto&) { ++items; });
    return items == 200 * 600 ? 0 : 1;
  });
  child.awaitSignal();
  OpenedRun run = openRunRecord(dir / "out", second); // waits for the child's reader to close
  CHECK_FALSE(run.resumed);
  run.record->putShard(makeShard(second, 0, 0, 4));
  CHECK(child.exitCode() == 0);
  CHECK(exists(dir / "out/run.sqlite-wal"));
  CHECK(RunReader(dir / "out").counts().ok == 3);
}

TEST_CASE("resuming does files again that have changed or could not be read") {
  ScratchDir dir;
  SweepPlan plan = makePlan(dir.path(), 4, 20);
  {
    OpenedRun run = openRunRecord(dir / "out", plan);
    for (uint64_t module : {0, 1, 2}) {
      ShardRecord shard = makeShard(plan, module, 0, 20);
      if (module == 2)
        shard.facts.reset();
      run.record->putShard(shard);
    }
  }
  writeText(plan.modules[1].path, "edited");
  OpenedRun run = openRunRecord(dir / "out", plan);
  CHECK(run.resumed);
  CHECK(run.record->doneShards() == Shards{{0, 0}});
  REQUIRE(run.warnings.size() == 1);
  CHECK(run.warnings[0].find("m1.mlir has changed") != std::string::npos);
  CHECK(RunReader(dir / "out").counts().ok == 19);
}

TEST_CASE("one output directory takes one run at a time") {
  ScratchDir dir;
  SweepPlan plan = makePlan(dir.path(), 1, 5);
  Child child([&](const auto& signal) {
    OpenedRun run = openRunRecord(dir / "out", plan);
    signal();
    for (;;)
      ::pause();
    return 0;
  });
  child.awaitSignal();
  CHECK_THROWS_WITH_AS(openRunRecord(dir / "out", plan), doctest::Contains("in use by pid "),
                       StorageError);
  CHECK(RunReader(dir / "out").facts().pointCount == 5); // reading is allowed
  child.kill();
  CHECK(openRunRecord(dir / "out", plan).resumed);
}

TEST_CASE("a run that is killed keeps whole shards") {
  ScratchDir dir;
  SweepPlan plan = makePlan(dir.path(), 40, 256);
  for (int round = 0; round < 6; ++round) {
    Child child([&](const auto& signal) {
      OpenedRun run = openRunRecord(dir / "out", plan);
      auto done = run.record->doneShards();
      for (uint64_t module = done.size(); module < 40; ++module) {
        run.record->begin();
        run.record->putShard(makeShard(plan, module, 0, 256));
        if (module == done.size() + 3)
          signal();
        run.record->commit();
      }
      return 0;
    });
    child.awaitSignal();
    child.kill();
    CHECK(integrity(dir / "out/run.sqlite") == "ok");
    long long items = countRows(dir / "out/run.sqlite", "items");
    CHECK(items == 256 * countRows(dir / "out/run.sqlite", "shards"));
    CHECK(items >= 3 * 256);
  }
}

TEST_CASE("a broken record is kept aside and the run starts anew") {
  ScratchDir dir;
  SweepPlan plan = makePlan(dir.path(), 20, 256);
  {
    OpenedRun run = openRunRecord(dir / "out", plan);
    for (uint64_t module = 0; module < 20; ++module)
      run.record->putShard(makeShard(plan, module, 0, 256));
  }
  SUBCASE("header") {
    scribble(dir / "out/run.sqlite", 0, 50);
  }
  SUBCASE("pages") {
    scribble(dir / "out/run.sqlite", 20 * 4096, 40 * 4096);
  }
  SUBCASE("truncated") {
    fs::resize_file(dir / "out/run.sqlite", 20 * 4096);
  }
  OpenedRun run = openRunRecord(dir / "out", plan);
  CHECK_FALSE(run.resumed);
  CHECK(run.record->doneShards().empty());
  REQUIRE(run.warnings.size() == 1);
  auto kept = namesWith(dir / "out", "run.sqlite.corrupt-");
  REQUIRE(kept.size() == 1);
  CHECK(run.warnings[0].find(kept[0]) != std::string::npos);
}

TEST_CASE("a record of a later version is refused and left alone") {
  ScratchDir dir;
  SweepPlan plan = makePlan(dir.path(), 1, 5);
  openRunRecord(dir / "out", plan);
  executeSql(dir / "out/run.sqlite", "PRAGMA user_version=99");
  for (bool reading : {false, true}) {
    try {
      if (reading)
        RunReader reader(dir / "out");
      else
        openRunRecord(dir / "out", plan);
      FAIL("opened");
    } catch (const StorageError& error) {
      CHECK(error.kind() == StorageErrorKind::TooNew);
    }
  }
  CHECK(namesWith(dir / "out", "").size() == 2);
}

TEST_CASE("a full disk stops the run with what is committed intact") {
  ScratchDir dir;
  SmallDisk disk(dir / "disk", "1m");
  if (!disk.mounted()) {
    MESSAGE("skipped: no right to mount a small disk");
    return;
  }
  SweepPlan plan = makePlan(dir.path(), 200, 256);
  uint64_t done = 0;
  {
    OpenedRun run = openRunRecord(dir / "disk/out", plan);
    try {
      for (; done < 200; ++done) {
        run.record->begin();
        run.record->putShard(makeShard(plan, done, 0, 256));
        run.record->commit();
      }
      FAIL("never full");
    } catch (const StorageError& error) {
      CHECK(error.kind() == StorageErrorKind::Full);
      CHECK(std::string(error.what()).find("run.sqlite") != std::string::npos);
    }
    CHECK(run.record->doneShards().size() == done);
    CHECK_THROWS_AS(run.record->putShard(makeShard(plan, 199, 0, 256)), StorageError);
  }
  CHECK(done > 0);
  CHECK(integrity(dir / "disk/out/run.sqlite") == "ok");
  CHECK(RunReader(dir / "disk/out").counts().ok == 255 * done);
}

TEST_CASE("an output directory that cannot be written is an error that names it") {
  ScratchDir dir;
  SweepPlan plan = makePlan(dir.path(), 1, 5);
  writeText(dir / "file", "");
  CHECK_THROWS_WITH_AS(openRunRecord(dir / "file", plan), doctest::Contains("file"), StorageError);
  fs::create_directories(dir / "out/run.sqlite");
  CHECK_THROWS_WITH_AS(openRunRecord(dir / "out", plan), doctest::Contains("not a regular file"),
                       StorageError);
  CHECK_THROWS_WITH_AS(RunReader(dir / "none"), doctest::Contains("no such file"), StorageError);
  if (!runsAsRoot())
    return;
  fs::permissions(dir.path(), fs::perms(0755));
  CHECK(asNobody([&] {
          try {
            openRunRecord(dir / "new", plan);
            return 1;
          } catch (const StorageError& error) {
            return error.kind() == StorageErrorKind::ReadOnly ? 0 : 2;
          }
        }) == 0);
}

TEST_CASE("a finished record can be read where nothing can be written") {
  if (!runsAsRoot()) {
    MESSAGE("skipped: needs root to become somebody else");
    return;
  }
  ScratchDir dir;
  SweepPlan plan = makePlan(dir.path(), 1, 5);
  {
    openRunRecord(dir / "out", plan).record->putShard(makeShard(plan, 0, 0, 5));
  }
  CHECK(asNobody([&] { return RunReader(dir / "out").counts().ok == 4 ? 0 : 1; }) == 0);
}

TEST_CASE("events and metadata come back in the order of the plan") {
  ScratchDir dir;
  SweepPlan plan = makePlan(dir.path(), 2, 5);
  {
    OpenedRun run = openRunRecord(dir / "out", plan);
    ShardRecord second = makeShard(plan, 1, 0, 5), first = makeShard(plan, 0, 0, 5);
    second.items[3].events = "late\n";
    first.items[4].events = "b\n";
    first.items[0].events = "a\n";
    run.record->putShard(second);
    run.record->putShard(first);
    run.record->putMetadata("{\"x\": 1}");
    run.record->finish("complete");
    run.record->markReported();
  }
  RunReader reader(dir / "out");
  CHECK(reader.facts().metadata == "{\"x\": 1}");
  std::vector<std::string> found;
  reader.forEachEvents([&](uint64_t module, uint64_t point, const std::string& lines) {
    found.push_back(std::to_string(module) + ' ' + std::to_string(point) + ' ' + lines);
  });
  CHECK(found == std::vector<std::string>{"0 0 a\n", "0 4 b\n", "1 3 late\n"});
}

TEST_CASE("a run that is complete goes on until its reports are written") {
  ScratchDir dir;
  SweepPlan plan = makePlan(dir.path(), 1, 5);
  {
    OpenedRun run = openRunRecord(dir / "out", plan);
    run.record->putShard(makeShard(plan, 0, 0, 5));
    run.record->putMetadata("{}");
    run.record->finish("complete");
  }
  {
    OpenedRun again = openRunRecord(dir / "out", plan);
    CHECK(again.resumed);
    CHECK(again.record->doneShards().size() == 1);
    again.record->finish("complete");
    CHECK(RunReader(dir / "out").facts().metadata == "{}");
    again.record->markReported();
  }
  CHECK_FALSE(openRunRecord(dir / "out", plan).resumed);
}

TEST_CASE("a record of the version before can be read") {
  ScratchDir dir;
  SweepPlan plan = makePlan(dir.path(), 1, 5);
  openRunRecord(dir / "out", plan).record->putShard(makeShard(plan, 0, 0, 5));
  executeSql(dir / "out/run.sqlite",
             "DROP TABLE events; ALTER TABLE run DROP COLUMN metadata; ALTER TABLE run "
             "DROP COLUMN reported; PRAGMA user_version=1");
  RunReader reader(dir / "out");
  CHECK(reader.facts().metadata.empty());
  CHECK(reader.counts().notRun == 0);
  int items = 0;
  reader.forEachEvents([&](uint64_t, uint64_t, const std::string&) { ++items; });
  CHECK(items == 0);
}

TEST_CASE("a shard that is put again replaces itself; points outside the plan are refused") {
  ScratchDir dir;
  SweepPlan plan = makePlan(dir.path(), 1, 5);
  OpenedRun run = openRunRecord(dir / "out", plan);
  run.record->putShard(makeShard(plan, 0, 0, 5));
  run.record->putShard(makeShard(plan, 0, 0, 5));
  CHECK(countRows(dir / "out/run.sqlite", "items") == 5);
  CHECK(countRows(dir / "out/run.sqlite", "shards") == 1);
  CHECK_THROWS_AS(run.record->putShard(makeShard(plan, 0, 5, 1)), StorageError);
}

} // namespace
} // namespace nocturne
