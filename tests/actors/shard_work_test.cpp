#include "actors/shard_work.h"

#include <thread>

#include <doctest/doctest.h>

#include "actors/file_ahead.h"
#include "tests/actors/fakes.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {

// One worker's view of a plan, with the test in the place of the cache actor.
struct Desk {
  Desk(std::vector<std::string> texts, int pointCount)
      : plan(makePlan(std::move(texts), pointCount)) {
    points.emplace(plan, world.registry.lookup(), "fake reader");
  }
  SweepPlan makePlan(std::vector<std::string> texts, int pointCount) {
    std::vector<std::string> files;
    for (size_t i = 0; i < texts.size(); ++i)
      files.push_back(world.folder.write(std::to_string(i), texts[i]));
    return tinyPlan(files, pointCount);
  }
  WorkContext context(bool cached = true) {
    return {plan,         world.registry,
            world.reader, "fake reader",
            *points,      modules,
            metadata,     cached ? &claims : nullptr,
            {},           abandon.get_token()};
  }
  Shard shard(uint64_t module) {
    return {hashedInfo(module, plan.modules[module].path), 0,
            static_cast<uint32_t>(plan.pointCount()), 0, 0};
  }
  std::vector<Shard> shards(uint64_t count) {
    std::vector<Shard> all;
    for (uint64_t i = 0; i < count; ++i)
      all.push_back(shard(i));
    return all;
  }
  // Everything asked for is the asker's.
  static LookupReply allYours(const Lookup& question) {
    LookupReply reply;
    for (uint32_t i = 0; i < question.keys.size(); ++i)
      reply.yours.push_back(i);
    return reply;
  }
  World world;
  SweepPlan plan;
  ClaimTable claims{100};
  std::optional<PointMemo> points;
  ModuleMemo modules{1 << 20};
  RunMetadata metadata;
  std::stop_source abandon;
};

} // namespace

TEST_CASE("a batch asks for files and keys, computes and puts everything at once") {
  Desk desk({"add", "mul"}, 3);
  WorkContext context = desk.context();
  ShardWork work(context, desk.shards(2));
  CHECK(work.filesToAsk().contentHashes.size() == 2);
  work.files({});
  Lookup question = work.keysToAsk();
  CHECK(question.keys.size() == 6);
  work.answers(Desk::allYours(question));
  CHECK(work.tablesToAsk().contentHashes.empty());
  work.compute();
  Put put = work.takePut();
  CHECK(put.rows.size() == 6);
  CHECK(put.files.size() == 2);
  CHECK(put.configurations.size() == 3);
  REQUIRE(put.shards.size() == 2);
  CHECK(put.shards[0].tally.computed == 3);
  CHECK(work.done());
  CHECK(work.takePut().isEmpty());
}

TEST_CASE("equal keys of a batch are asked for once") {
  Desk desk({"add mul\none", "add mul\ntwo"}, 3);
  WorkContext context = desk.context();
  ShardWork work(context, desk.shards(2));
  work.files({});
  Lookup question = work.keysToAsk();
  CHECK(question.keys.size() == 3);
  work.answers(Desk::allYours(question));
  work.compute();
  Put put = work.takePut();
  CHECK(put.rows.size() == 3);
  CHECK(put.shards[0].tally.computed == 3);
  CHECK(put.shards[1].tally.hits == 3);
  CHECK(put.shards[1].record.items[2].result == put.shards[0].record.items[2].result);
}

TEST_CASE("results are put before what others compute is known, so that nobody waits in a circle") {
  Desk desk({"add"}, 3);
  WorkContext context = desk.context();
  ShardWork work(context, desk.shards(1));
  work.files({});
  Lookup question = work.keysToAsk();
  work.answers({{}, {0}, {1, 2}});
  work.compute();
  Put first = work.takePut();
  CHECK(first.rows.size() == 1);
  CHECK(first.shards.empty());
  CHECK_FALSE(work.done());
  ResultRow row = first.rows[0];
  row.key = question.keys[1];
  row.runtime = 99;
  CHECK_FALSE(work.resolved({hashBytes("else"), false, row}));
  CHECK(work.resolved({question.keys[1], false, row}));
  CHECK(work.resolved({question.keys[2], true, {}}));
  work.compute();
  Put second = work.takePut();
  CHECK(second.rows.size() == 1);
  REQUIRE(second.shards.size() == 1);
  CHECK(second.shards[0].tally.hits == 1);
  CHECK(second.shards[0].tally.computed == 2);
  CHECK(second.shards[0].record.items[1].result.runtime == 99.0);
  CHECK(second.shards[0].record.items[1].fromCache);
}

TEST_CASE("a batch that is abandoned releases its claims and gives its shards back") {
  Desk desk({"add", "mul"}, 3);
  WorkContext context = desk.context();
  ShardWork work(context, desk.shards(2));
  work.files({});
  Lookup question = work.keysToAsk();
  work.answers(Desk::allYours(question));
  desk.abandon.request_stop();
  work.compute();
  CHECK(work.abandoned());
  Put put = work.takePut();
  CHECK(put.released.size() == 6);
  CHECK(put.rows.empty());
  CHECK(put.shards.empty());
  CHECK(work.unfinished().size() == 2);
}

TEST_CASE("what fails because its run is given up has no result") {
  Desk desk({"bug"}, 2);
  WorkContext context = desk.context();
  ShardWork work(context, desk.shards(1));
  work.files({});
  work.answers(Desk::allYours(work.keysToAsk()));
  estimateGate().close();
  const std::jthread stopper([&desk] {
    estimateGate().waitForVisitors(1);
    desk.abandon.request_stop();
    estimateGate().open();
  });
  work.compute();
  CHECK(work.abandoned());
  const Put put = work.takePut();
  CHECK(put.released.size() == 2);
  CHECK(put.rows.empty());
  CHECK(put.shards.empty());
  CHECK(work.unfinished().size() == 1);
}

TEST_CASE("a module that is known but gone fails its items without spoiling the cache") {
  Desk desk({"add"}, 2);
  WorkContext context = desk.context();
  Shard shard = desk.shard(0);
  ShardWork work(context, {shard});
  FileReply reply;
  FileEntry entry;
  entry.contentHash = shard.file.contentHash;
  entry.facts.fingerprint = hashBytes("add");
  reply.entries.push_back(entry);
  reply.found.push_back(1);
  work.files(std::move(reply));
  std::filesystem::remove(desk.plan.modules[0].path);
  work.answers(Desk::allYours(work.keysToAsk()));
  CHECK(work.tablesToAsk().contentHashes.size() == 1);
  work.tables({});
  work.compute();
  Put put = work.takePut();
  CHECK(put.rows.empty());
  CHECK(put.released.size() == 2);
  REQUIRE(put.shards.size() == 1);
  CHECK(put.shards[0].tally.failed == 2);
  CHECK(put.shards[0].tally.computed == 0);
  CHECK((put.shards[0].record.items[0].failure->kind == FailureKind::Unreadable));
}

TEST_CASE("a table comes from the cache when it is needed, and the file is left alone") {
  Desk desk({"add"}, 2);
  WorkContext context = desk.context();
  Shard shard = desk.shard(0);
  ModulePtr module = desk.world.reader.read(desk.plan.modules[0].path);
  ShardWork work(context, {shard});
  FileReply facts{{{shard.file.contentHash, "fake reader", factsOf(*module), {}, {}}}, {1}};
  work.files(std::move(facts));
  work.answers(Desk::allYours(work.keysToAsk()));
  FileLookup question = work.tablesToAsk();
  CHECK(question.withTables);
  REQUIRE(question.contentHashes.size() == 1);
  FileReply tables{
      {{shard.file.contentHash, "fake reader", factsOf(*module), serialise(*module), {}}}, {1}};
  work.tables(std::move(tables));
  work.compute();
  CHECK(work.takePut().shards[0].tally.ok == 2);
  CHECK(desk.world.reader.reads == 1);
}

TEST_CASE("a file that changes after it was hashed fails, and is not remembered as bad") {
  Desk desk({"add"}, 1);
  WorkContext context = desk.context();
  std::vector<Shard> shards = desk.shards(1);
  desk.world.folder.write("0", "mul");
  ShardWork work(context, std::move(shards));
  work.files({});
  CHECK(work.keysToAsk().keys.empty());
  Put put = work.takePut();
  CHECK(put.files.empty());
  REQUIRE(put.shards.size() == 1);
  CHECK(put.shards[0].record.items[0].failure->message == "the file changed while the run read it");
}

TEST_CASE("without a cache nothing is asked and nothing merged") {
  Desk desk({"add\n1", "add\n2"}, 2);
  WorkContext context = desk.context(false);
  ShardWork work(context, desk.shards(2));
  CHECK(work.filesToAsk().contentHashes.empty());
  work.files({});
  CHECK(work.keysToAsk().keys.empty());
  work.compute();
  Put put = work.takePut();
  CHECK(put.rows.empty());
  CHECK(put.files.empty());
  CHECK(put.shards[0].tally.computed + put.shards[1].tally.computed == 4);
}
