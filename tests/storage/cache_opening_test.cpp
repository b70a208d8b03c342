// What becomes of a cache that cannot be used: every fault is injected, none waited for.
#include <filesystem>

#include <doctest/doctest.h>

#include "storage/file_lock.h"
#include "storage/result_cache.h"
#include "tests/storage/fixtures.h"

namespace nocturne {
namespace {

using namespace test;
namespace fs = std::filesystem;

// A closed cache with some rows.
std::string makeCache(const std::string& directory, uint64_t rows) {
  std::vector<std::string> warnings;
  OpenedCache cache = openResultCache(directory, CacheMode::OnDisk, warnings);
  REQUIRE(cache.writable);
  for (uint64_t first = 0; first < rows; first += 1000)
    cache.store->put(makeRows(first, std::min<uint64_t>(1000, rows - first)));
  return cache.path;
}

bool keeps(ResultStore& store, uint64_t n) {
  ResultRow row = makeRow(n);
  store.put(std::vector{row});
  store.commit();
  return store.find(std::vector{row.key})[0] == row;
}

bool has(ResultStore& store, uint64_t n) {
  ResultRow row = makeRow(n);
  return store.find(std::vector{row.key})[0] == row;
}

// openResultCache as user 65534; `check` gives the exit code.
int asNobodyOpening(const std::string& directory,
                    const std::function<int(OpenedCache&, const std::string&)>& check) {
  return asNobody([&] {
    std::vector<std::string> warnings;
    OpenedCache cache = openResultCache(directory, CacheMode::OnDisk, warnings);
    return check(cache, warnings.size() == 1 ? warnings[0] : "");
  });
}

TEST_CASE("the modes without a file leave none") {
  ScratchDir dir;
  std::vector<std::string> warnings;
  OpenedCache memory = openResultCache(dir / "c", CacheMode::InMemory, warnings);
  CHECK(keeps(*memory.store, 1));
  OpenedCache none = openResultCache(dir / "c", CacheMode::Disabled, warnings);
  CHECK_FALSE(keeps(*none.store, 1));
  none.store->putFile({digestOf("f"), "r", {}, "table", {}});
  CHECK_FALSE(none.store->findFile(digestOf("f"), "r", false));
  CHECK(none.store->find(std::vector<Digest>(3)).size() == 3);
  CHECK_FALSE(exists(dir / "c"));
  CHECK(warnings.empty());
}

TEST_CASE("a missing directory is made") {
  ScratchDir dir;
  std::vector<std::string> warnings;
  OpenedCache cache = openResultCache(dir / "a/b", CacheMode::OnDisk, warnings);
  CHECK(cache.writable);
  CHECK(cache.path == dir / "a/b/cache.sqlite");
  CHECK(warnings.empty());
}

TEST_CASE("what is no cache is kept aside and a new cache started") {
  ScratchDir dir;
  std::string path = dir / "cache.sqlite";
  SUBCASE("text") {
    writeText(path, std::string(20'000, 'x'));
  }
  SUBCASE("a broken header") {
    makeCache(dir.path(), 100);
    scribble(path, 0, 100);
  }
  SUBCASE("a broken schema") {
    makeCache(dir.path(), 100);
    scribble(path, 100, 3000);
  }
  SUBCASE("another program's database") {
    executeSql(path, "CREATE TABLE mail (id INTEGER)");
  }
  std::string before = readText(path);
  writeText(path + "-wal", "log");
  std::vector<std::string> warnings;
  OpenedCache cache = openResultCache(dir.path(), CacheMode::OnDisk, warnings);
  CHECK(cache.writable);
  REQUIRE(warnings.size() == 1);
  auto kept = namesWith(dir.path(), "cache.sqlite.corrupt-");
  REQUIRE_FALSE(kept.empty());
  CHECK(warnings[0].find(kept[0]) != std::string::npos);
  CHECK(readText(dir / kept[0]) == before);
  CHECK(keeps(*cache.store, 1));
  CHECK(integrity(path) == "ok");
}

TEST_CASE("an empty file is a new cache") {
  ScratchDir dir;
  writeText(dir / "cache.sqlite", "");
  std::vector<std::string> warnings;
  CHECK(openResultCache(dir.path(), CacheMode::OnDisk, warnings).writable);
  CHECK(warnings.empty());
}

TEST_CASE("damage that shows up later costs hits, and is told once") {
  ScratchDir dir;
  std::string path = makeCache(dir.path(), 20'000);
  auto size = static_cast<long>(fs::file_size(path));
  SUBCASE("garbage in pages") {
    scribble(path, 64 * 4096, static_cast<size_t>(size) - 64 * 4096);
  }
  SUBCASE("a truncated file") {
    fs::resize_file(path, 64 * 4096);
  }
  std::vector<std::string> warnings;
  OpenedCache cache = openResultCache(dir.path(), CacheMode::OnDisk, warnings);
  auto rows = makeRows(0, 20'000);
  for (size_t first = 0; first < rows.size(); first += 256) {
    auto keys = keysOf(makeRows(first, 256));
    CHECK(cache.store->find(keys).size() == 256);
    cache.store->begin();
    cache.store->put(makeRows(100'000 + first, 256));
    cache.store->commit();
  }
  auto later = cache.store->takeWarnings();
  warnings.insert(warnings.end(), later.begin(), later.end());
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("a new cache is started") != std::string::npos);
  CHECK(cache.store->takeWarnings().empty());
  CHECK(has(*cache.store, 119'000));
  CHECK(namesWith(dir.path(), "cache.sqlite.corrupt-").size() == 1);
  CHECK(keeps(*cache.store, 1));
  CHECK(integrity(path) == "ok");
}

TEST_CASE("a broken cache that another process uses is not moved under its feet") {
  ScratchDir dir;
  makeCache(dir.path(), 100);
  // The other one opened it while it was whole.
  auto other = FileLock::tryAcquire(dir / "cache.lock", FileLock::Mode::Shared);
  scribble(dir / "cache.sqlite", 0, 100);
  std::vector<std::string> warnings;
  OpenedCache cache = openResultCache(dir.path(), CacheMode::OnDisk, warnings);
  CHECK_FALSE(cache.writable);
  CHECK(keeps(*cache.store, 1));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("stay in memory") != std::string::npos);
  CHECK(namesWith(dir.path(), "cache.sqlite.corrupt-").empty());
}

TEST_CASE("two processes that find the same broken cache agree on a new one") {
  ScratchDir dir;
  for (int round = 0; round < 10; ++round) {
    writeText(dir / "cache.sqlite", std::string(20'000, 'x'));
    auto open = [&](const std::function<void()>&) {
      std::vector<std::string> warnings;
      OpenedCache cache = openResultCache(dir.path(), CacheMode::OnDisk, warnings);
      return cache.writable && keeps(*cache.store, static_cast<uint64_t>(::getpid())) ? 0 : 1;
    };
    Child one(open), two(open);
    CHECK(one.exitCode() == 0);
    CHECK(two.exitCode() == 0);
    CHECK(countRows(dir / "cache.sqlite", "results") == 2);
    for (const std::string& name : namesWith(dir.path(), "cache.sqlite"))
      fs::remove(dir / name);
  }
}

TEST_CASE(
    "a cache of the version before is read as it is, and brought forward where it can be written") {
  ScratchDir dir;
  std::string path = makeCache(dir.path(), 100);
  executeSql(path, "DROP TABLE result_details; PRAGMA user_version=1");
  auto old = SqliteResultStore::openReadOnly(path);
  CHECK(has(*old, 7));
  CHECK(old->findDetails(digestOf("any")).empty());
  old.reset();
  auto store = SqliteResultStore::create(path);
  CHECK(has(*store, 7));
  store->putDetails(digestOf("any"), "{}");
  CHECK(store->findDetails(digestOf("any")) == "{}");
}

TEST_CASE("a cache of a later version is left alone") {
  ScratchDir dir;
  std::string path = makeCache(dir.path(), 100);
  executeSql(path, "PRAGMA user_version=99");
  std::string before = readText(path);
  std::vector<std::string> warnings;
  OpenedCache cache = openResultCache(dir.path(), CacheMode::OnDisk, warnings);
  CHECK_FALSE(cache.writable);
  CHECK(cache.path.empty());
  CHECK_FALSE(has(*cache.store, 5));
  CHECK(keeps(*cache.store, 5));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("newer version of Nocturne") != std::string::npos);
  cache = {};
  CHECK(readText(path) == before);
}

TEST_CASE("a directory in place of the file is left alone") {
  ScratchDir dir;
  fs::create_directories(dir / "cache.sqlite/inside");
  std::vector<std::string> warnings;
  OpenedCache cache = openResultCache(dir.path(), CacheMode::OnDisk, warnings);
  CHECK_FALSE(cache.writable);
  CHECK(keeps(*cache.store, 5));
  CHECK(warnings.size() == 1);
  CHECK(exists(dir / "cache.sqlite/inside"));
}

TEST_CASE("a file in place of the directory keeps results in memory") {
  ScratchDir dir;
  writeText(dir / "c", "a file");
  std::vector<std::string> warnings;
  OpenedCache cache = openResultCache(dir / "c", CacheMode::OnDisk, warnings);
  CHECK(keeps(*cache.store, 5));
  CHECK(warnings.size() == 1);
}

TEST_CASE("a cache that may only be read gives hits and keeps new results in memory") {
  if (!runsAsRoot()) {
    MESSAGE("skipped: needs root to become somebody else");
    return;
  }
  ScratchDir dir;
  makeCache(dir.path(), 100);
  auto check = [](OpenedCache& cache, const std::string& warning) {
    if (cache.writable || cache.path.empty())
      return 1;
    if (!has(*cache.store, 7))
      return 2;
    if (has(*cache.store, 500) || !keeps(*cache.store, 500))
      return 3;
    return warning.find("new results stay in memory") == std::string::npos ? 4 : 0;
  };
  SUBCASE("file and directory") {
    fs::permissions(dir.path(), fs::perms(0755));
  }
  SUBCASE("the directory only") {
    fs::permissions(dir.path(), fs::perms(0755));
    fs::permissions(dir / "cache.sqlite", fs::perms(0666));
    fs::permissions(dir / "cache.lock", fs::perms(0666));
  }
  SUBCASE("the file only") {
    fs::permissions(dir / "cache.sqlite", fs::perms(0444));
  }
  CHECK(asNobodyOpening(dir.path(), check) == 0);
  CHECK(countRows(dir / "cache.sqlite", "results") == 100);
}

TEST_CASE("a cache that may not even be read keeps results in memory") {
  if (!runsAsRoot()) {
    MESSAGE("skipped: needs root to become somebody else");
    return;
  }
  ScratchDir dir;
  fs::create_directory(dir / "c");
  makeCache(dir / "c", 100);
  fs::permissions(dir / "c", fs::perms(0700));
  CHECK(asNobodyOpening(dir / "c", [](OpenedCache& cache, const std::string& warning) {
          return cache.path.empty() && keeps(*cache.store, 7) && !warning.empty() ? 0 : 1;
        }) == 0);
  fs::permissions(dir.path(), fs::perms(0755));
  CHECK(asNobodyOpening(dir / "new", [](OpenedCache& cache, const std::string& warning) {
          return cache.path.empty() && keeps(*cache.store, 7) && !warning.empty() ? 0 : 1;
        }) == 0);
}

TEST_CASE("a disk that fills up stops the growth of the cache, not the run") {
  ScratchDir dir;
  SmallDisk disk(dir / "disk", "1m");
  if (!disk.mounted()) {
    MESSAGE("skipped: no right to mount a small disk");
    return;
  }
  uint64_t done = 0;
  std::vector<std::string> warnings;
  {
    OpenedCache cache = openResultCache(dir / "disk/c", CacheMode::OnDisk, warnings);
    REQUIRE(cache.writable);
    std::vector<std::string> later;
    for (; later.empty() && done < 100'000; done += 64) {
      cache.store->begin();
      cache.store->put(makeRows(done, 64));
      cache.store->commit();
      later = cache.store->takeWarnings();
    }
    REQUIRE(later.size() == 1);
    CHECK(later[0].find("full") != std::string::npos);
    CHECK(later[0].find("new results stay in memory") != std::string::npos);
    CHECK(has(*cache.store, 10));        // from the file
    CHECK(keeps(*cache.store, 999'999)); // in memory
    CHECK(cache.store->takeWarnings().empty());
  }
  CHECK(integrity(dir / "disk/c/cache.sqlite") == "ok");
  CHECK(countRows(dir / "disk/c/cache.sqlite", "results") % 64 == 0);
  CHECK(countRows(dir / "disk/c/cache.sqlite", "results") > 0);
}

TEST_CASE("a disk that is full from the start keeps results in memory") {
  ScratchDir dir;
  SmallDisk disk(dir / "disk", "16k");
  if (!disk.mounted()) {
    MESSAGE("skipped: no right to mount a small disk");
    return;
  }
  std::vector<std::string> warnings;
  OpenedCache cache = openResultCache(dir / "disk/c", CacheMode::OnDisk, warnings);
  CHECK_FALSE(cache.writable);
  CHECK(warnings.size() == 1);
  CHECK(keeps(*cache.store, 1));
}

} // namespace
} // namespace nocturne
