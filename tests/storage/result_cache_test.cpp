#include "storage/result_cache.h"

#include <memory>

#include <doctest/doctest.h>

#include "tests/storage/fixtures.h"

namespace nocturne {
namespace {

using namespace test;

std::vector<std::unique_ptr<ResultStore>> keepingStores(const ScratchDir& dir) {
  std::vector<std::unique_ptr<ResultStore>> stores;
  stores.push_back(SqliteResultStore::create(dir / "cache.sqlite"));
  stores.push_back(std::make_unique<MemoryResultStore>());
  std::vector<std::string> warnings;
  stores.push_back(openResultCache(dir / "cache", CacheMode::OnDisk, warnings).store);
  CHECK(warnings.empty());
  return stores;
}

TEST_CASE("rows come back equal, in the order of the keys asked for") {
  ScratchDir dir;
  for (auto& store : keepingStores(dir)) {
    auto rows = makeRows(0, 1000);
    store->put(rows);
    auto keys = keysOf(rows);
    keys.push_back(digestOf("unknown"));
    auto found = store->find(keys);
    REQUIRE(found.size() == 1001);
    for (size_t i = 0; i < rows.size(); ++i)
      REQUIRE(found[i] == rows[i]);
    CHECK_FALSE(found[1000]);
  }
}

TEST_CASE("details are kept beside the rows, the first counting") {
  ScratchDir dir;
  for (auto& store : keepingStores(dir)) {
    ResultRow row = makeRow(1);
    store->put(std::vector{row});
    CHECK(store->findDetails(row.key).empty());
    const std::string longer(100'000, 'x');
    store->putDetails(row.key, longer);
    store->putDetails(row.key, "{}");
    CHECK(store->findDetails(row.key) == longer);
    CHECK(store->findDetails(digestOf("unknown")).empty());
  }
}

TEST_CASE("nothing asked and nothing put is fine") {
  ScratchDir dir;
  for (auto& store : keepingStores(dir)) {
    store->commit(); // none open
    store->begin();
    store->begin(); // open already
    store->put({});
    store->commit();
    CHECK(store->find({}).empty());
    CHECK_FALSE(store->find(std::vector{digestOf("x")})[0]);
    CHECK_FALSE(store->findFile(digestOf("x"), "reader", false));
  }
}

TEST_CASE("a key that is put twice keeps its first row") {
  ScratchDir dir;
  for (auto& store : keepingStores(dir)) {
    ResultRow row = makeRow(1), other = makeRow(2);
    other.key = row.key;
    store->put(std::vector{row});
    store->put(std::vector{other});
    CHECK(store->find(std::vector{row.key})[0] == row);
  }
}

TEST_CASE("only failures that would come again are kept") {
  ScratchDir dir;
  for (auto& store : keepingStores(dir)) {
    std::vector<ResultRow> rows;
    for (FailureKind kind : {FailureKind::Unreadable, FailureKind::UnsupportedOp,
                             FailureKind::BadConfig, FailureKind::TimedOut, FailureKind::Crashed,
                             FailureKind::ToolFailed, FailureKind::Internal}) {
      ResultRow row = makeRow(3);
      row.key = digestOf("failure " + std::string(toString(kind)));
      row.failure = kind;
      rows.push_back(row);
    }
    store->put(rows);
    auto found = store->find(keysOf(rows));
    for (size_t i = 0; i < rows.size(); ++i)
      CHECK(found[i].has_value() == (i < 3));
    FileEntry entry{digestOf("f"), "reader", {}, "", Failure{FailureKind::TimedOut, "", "", 0, 0}};
    store->putFile(entry);
    CHECK_FALSE(store->findFile(digestOf("f"), "reader", false));
  }
}

TEST_CASE("extreme numbers and texts survive") {
  ScratchDir dir;
  for (auto& store : keepingStores(dir)) {
    ResultRow row = makeRow(0);
    row.runtime = 5e-324;
    row.flops = 1.7976931348623157e308;
    row.bytes = std::numeric_limits<double>::infinity();
    row.coveredRuns = 9007199254740993.0;
    row.totalRuns = 0.1 + 0.2;
    row.notes = std::string("a\0b", 3) + "\xff" + std::string(100'000, 'n');
    store->put(std::vector{row});
    CHECK(store->find(std::vector{row.key})[0] == row);
  }
}

TEST_CASE("files are found by content and reader, with and without their table") {
  ScratchDir dir;
  for (auto& store : keepingStores(dir)) {
    FileEntry entry;
    entry.facts = makeFacts("module @a");
    entry.contentHash = entry.facts.contentHash;
    entry.readerText = "reader 1 trip_count=1";
    entry.table = std::string(5000, 't') + "end";
    FileEntry bare = entry;
    bare.table.clear();

    store->putFile(bare);
    CHECK_FALSE(store->findFile(entry.contentHash, entry.readerText, true));
    REQUIRE(store->findFile(entry.contentHash, entry.readerText, false));
    store->putFile(entry);
    store->putFile(bare); // does not lose the table
    auto full = store->findFile(entry.contentHash, entry.readerText, true);
    REQUIRE(full);
    CHECK(full->table == entry.table);
    CHECK(full->contentHash == entry.contentHash);
    CHECK(full->readerText == entry.readerText);
    CHECK(full->facts.contentHash == entry.contentHash);
    CHECK(full->facts.fingerprint == entry.facts.fingerprint);
    CHECK(full->facts.rows == 17);
    CHECK(full->facts.collectives == 2.5);
    CHECK(full->facts.collectiveBytes == 1e12);
    CHECK(full->facts.peakBytes == 4096);
    CHECK(full->facts.assumptions == entry.facts.assumptions);
    CHECK(store->findFile(entry.contentHash, entry.readerText, false)->table.empty());
    CHECK_FALSE(store->findFile(entry.contentHash, "reader 2", false));
    CHECK_FALSE(store->findFile(digestOf("other"), entry.readerText, false));
  }
}

TEST_CASE("a file that cannot be read fails again from the cache") {
  ScratchDir dir;
  for (auto& store : keepingStores(dir)) {
    Failure failure{FailureKind::Unreadable, "expected ')'", "", 12, 5};
    store->putFile({digestOf("broken"), "reader", {}, "", failure});
    for (bool withTable : {false, true}) {
      auto found = store->findFile(digestOf("broken"), "reader", withTable);
      REQUIRE(found);
      CHECK(found->failure == failure);
    }
  }
}

TEST_CASE("results outlive the process that made them") {
  ScratchDir dir;
  auto rows = makeRows(0, 300);
  {
    auto store = SqliteResultStore::create(dir / "c.sqlite");
    store->begin();
    store->put(rows);
    store->putConfiguration(rows[0].configuration, "roofline", R"({"efficiency":1})");
    store->putConfiguration(rows[1].configuration, "roofline", R"({"efficiency":2})");
    store->putConfiguration(rows[1].configuration, "roofline", "another text");
    store->commit();
  }
  CHECK_FALSE(exists(dir / "c.sqlite-wal"));
  auto store = SqliteResultStore::openReadOnly(dir / "c.sqlite");
  CHECK(store->find(keysOf(rows))[299] == rows[299]);
  CHECK_THROWS_AS(store->put(rows), StorageError);
  CHECK(countRows(dir / "c.sqlite", "estimators") == 1);
  CHECK(countRows(dir / "c.sqlite", "configurations") == 256);
  CHECK(countRows(dir / "c.sqlite",
                  "configurations WHERE options = '{\"efficiency\":2}' AND estimator = 1") == 1);
  CHECK(integrity(dir / "c.sqlite") == "ok");
}

TEST_CASE("a transaction that fails takes nothing along and the store goes on") {
  ScratchDir dir;
  auto store = SqliteResultStore::create(dir / "c.sqlite");
  store->put(makeRows(0, 10));
  executeSql(dir / "c.sqlite", "CREATE TRIGGER refuse BEFORE INSERT ON results "
                               "WHEN (SELECT count(*) FROM results) >= 15 "
                               "BEGIN SELECT RAISE(ABORT, 'no more'); END");
  store->begin();
  store->put(makeRows(1000, 3));
  CHECK_THROWS_AS(store->put(makeRows(2000, 10)), StorageError);
  store->commit();
  CHECK(countRows(dir / "c.sqlite", "results") == 10);
  // The configurations of the lost rows were lost with them and are not taken for known.
  executeSql(dir / "c.sqlite", "DROP TRIGGER refuse");
  auto rows = makeRows(1000, 3);
  store->put(rows);
  CHECK(store->find(keysOf(rows))[2] == rows[2]);
  CHECK(countRows(dir / "c.sqlite", "results LEFT JOIN configurations ON configuration = id "
                                    "WHERE digest IS NULL") == 0);
}

TEST_CASE("two processes fill one cache without losing a row") {
  ScratchDir dir;
  std::string path = dir / "c.sqlite";
  auto writer = [&](uint64_t first) {
    return [&path, first](const std::function<void()>&) {
      auto store = SqliteResultStore::create(path);
      for (uint64_t batch = 0; batch < 40; ++batch) {
        store->begin();
        store->put(makeRows(first + batch * 50, 50));
        store->commit();
      }
      return 0;
    };
  };
  // The second half of the first writer's rows is the first half of the second's.
  Child one(writer(0)), two(writer(1000));
  CHECK(one.exitCode() == 0);
  CHECK(two.exitCode() == 0);
  auto store = SqliteResultStore::create(path);
  auto rows = makeRows(0, 3000);
  auto found = store->find(keysOf(rows));
  for (size_t i = 0; i < rows.size(); ++i)
    REQUIRE(found[i] == rows[i]);
  CHECK(integrity(path) == "ok");
}

TEST_CASE("a writer that is killed loses no committed batch and no part of one") {
  ScratchDir dir;
  std::string path = dir / "c.sqlite";
  for (uint64_t round = 0; round < 10; ++round) {
    Child child([&](const auto& signal) {
      auto store = SqliteResultStore::create(path);
      for (uint64_t batch = 0;; ++batch) {
        store->begin();
        store->put(makeRows(round * 1'000'000 + batch * 64, 64));
        if (batch == round)
          signal(); // dies somewhere between here and a later batch
        store->commit();
      }
      return 0;
    });
    child.awaitSignal();
    child.kill();
    long long rows = countRows(path, "results");
    CHECK(rows % 64 == 0);
    CHECK(rows >= static_cast<long long>(64 * round));
    CHECK(integrity(path) == "ok");
    auto batch = makeRows(round * 1'000'000, 64);
    if (round > 0)
      CHECK(SqliteResultStore::create(path)->find(keysOf(batch))[63] == batch[63]);
  }
}

} // namespace
} // namespace nocturne
