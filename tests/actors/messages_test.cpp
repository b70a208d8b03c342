// Every message survives the way over a wire.
#include "actors/messages.h"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/deep_to_string.hpp>

#include <doctest/doctest.h>

using namespace nocturne;

namespace {

template <typename T>
T overTheWire(T message) {
  std::vector<char> bytes;
  caf::binary_serializer sink(nullptr, bytes);
  REQUIRE_FALSE(static_cast<bool>(sink(message)));
  T copy;
  caf::binary_deserializer source(nullptr, bytes);
  REQUIRE_FALSE(static_cast<bool>(source(copy)));
  return copy;
}

// True when the copy prints like the original.
template <typename T>
bool survives(T message) {
  T copy = overTheWire(message);
  return caf::deep_to_string(copy) == caf::deep_to_string(message);
}

FileInfo file() {
  return {7, 1234, hashBytes("f"), "unreadable"};
}
Shard shard() {
  return {file(), 256, 17, 3, 2};
}
ShardTally tally() {
  return {1, 2, 3, 4, 5, 6, 7, 8};
}

ResultRow row() {
  ResultRow made;
  made.key = hashBytes("k");
  made.configuration = hashBytes("c");
  made.fingerprint = hashBytes("f");
  made.success = true;
  made.runtime = 0.1;
  made.flops = 2e9;
  made.bytes = 3;
  made.coveredRuns = 4;
  made.totalRuns = 5;
  made.notes = "{}";
  return made;
}

ResultRow failedRow() {
  ResultRow made = row();
  made.success = false;
  made.runtime.reset();
  made.failure = FailureKind::UnsupportedOp;
  made.failureMessage = "no rule";
  made.failureOp = 12;
  return made;
}

ModuleFacts facts() {
  return {hashBytes("c"), hashBytes("f"), 10, 1, 2, 3, {{"trip_count", "1", "a:1:2"}}};
}

} // namespace

TEST_CASE("rows and records keep every field, absent ones too") {
  CHECK(overTheWire(row()) == row());
  CHECK(overTheWire(failedRow()) == failedRow());
  FileEntry entry{hashBytes("x"), "reader", facts(), std::string("\0table", 6),
                  Failure{FailureKind::Unreadable, "no", "", 3, 4}};
  FileEntry copy = overTheWire(entry);
  CHECK(copy.failure == entry.failure);
  CHECK(copy.table == entry.table);
  CHECK(copy.facts.assumptions == entry.facts.assumptions);
  ItemRecord item{5, ItemStatus::Failed, true, failedRow(),
                  Failure{FailureKind::Crashed, "m", "f", 1, 2}};
  ShardRecord record{1, 2, facts(), {item, {}}, "{}", 3};
  ShardRecord same = overTheWire(record);
  CHECK(same.facts->peakBytes == 3);
  CHECK(same.items[0].failure == item.failure);
  CHECK_FALSE(same.items[1].failure.has_value());
  CHECK(same.attempts == 3);
  CHECK_FALSE(overTheWire(ShardRecord{}).facts.has_value());
}

TEST_CASE("messages of the supervisor survive") {
  CHECK(survives(RunRequest{}));
  CHECK(survives(RunReport{3, "text", 1, 2, 3, 4, 5, 6}));
  CHECK(survives(FilesReady{{file(), file()}, true}));
  CHECK(survives(WorkerIdle{4, 0.5, 1e6}));
  CHECK(survives(Batch{{shard(), shard()}}));
  CHECK(survives(ShardsReturned{4, {tally()}}));
  CHECK(survives(StopRequest{}));
  CHECK(survives(GraceOver{}));
  CHECK(survives(Committed{{tally()}}));
  CHECK(survives(RecordFailed{"full"}));
}

TEST_CASE("messages of the cache actor survive") {
  CHECK(survives(OpenRecord{}));
  CHECK(survives(DoneShards{"no", {{1, 2}, {3, 4}}}));
  CHECK(survives(FileLookup{{hashBytes("a")}, true}));
  CHECK(survives(FileReply{{FileEntry{}}, {1}}));
  CHECK(survives(Lookup{3, {hashBytes("a"), hashBytes("b")}}));
  CHECK(survives(LookupReply{{{0, row()}}, {1}, {2, 3}}));
  CHECK(survives(Resolved{{{hashBytes("a"), true, {}}, {hashBytes("b"), false, row()}}}));
  CHECK(survives(Put{5,
                     {row()},
                     {hashBytes("a")},
                     {FileEntry{}},
                     {{hashBytes("c"), "roofline", "{}"}},
                     {{ShardRecord{}, tally()}},
                     true}));
  CHECK(survives(FlushTick{}));
  CHECK(survives(ClaimTick{}));
  CHECK(survives(WorkerGone{1}));
  CHECK(survives(WorkerCleared{1}));
  CHECK(survives(Finish{"complete"}));
  CHECK(survives(Finished{false, "why"}));
}

TEST_CASE("a system learns the messages that may come from other processes") {
  caf::actor_system_config config;
  addMessageTypes(config);
  caf::actor_system system{config};
  CHECK(system.types().make_value("nocturne.Put") != nullptr);
  CHECK(system.types().make_value("nocturne.Resolved") != nullptr);
}

TEST_CASE("messages of the progress actor survive") {
  CHECK(survives(ProgressCounts{1, 2, 3, 4}));
  CHECK(survives(ProgressTick{}));
  CHECK(survives(Warning{"text"}));
}
