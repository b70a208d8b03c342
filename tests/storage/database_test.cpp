#include "storage/database.h"

#include <cmath>
#include <filesystem>

#include <doctest/doctest.h>

#include "tests/storage/fixtures.h"

namespace nocturne {
namespace {

using namespace test;

constexpr const char* kSteps[] = {"CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT); INSERT "
                                  "INTO things (name) VALUES ('a')",
                                  "ALTER TABLE things ADD COLUMN size INTEGER NOT NULL DEFAULT 7",
                                  "CREATE TABLE others (id INTEGER PRIMARY KEY)"};
constexpr Schema kOld{"a thing file", 77, {kSteps, 1}};
constexpr Schema kNew{"a thing file", 77, {kSteps, 3}};
constexpr const char* kBrokenSteps[] = {kSteps[0],
                                        "CREATE TABLE more (id INTEGER); SELECT nonsense"};
constexpr Schema kBroken{"a thing file", 77, {kBrokenSteps, 2}};

StorageErrorKind kindOfOpening(const std::string& path, std::string* message = nullptr) {
  try {
    Database database(path, OpenMode::Write);
    migrate(database, kNew);
  } catch (const StorageError& error) {
    if (message)
      *message = error.what();
    return error.kind();
  }
  FAIL("no error");
  return StorageErrorKind::Other;
}

TEST_CASE("values come back as they were bound") {
  ScratchDir dir;
  Database database(dir / "x.sqlite", OpenMode::Write);
  database.execute("CREATE TABLE t (i INTEGER, r REAL, s TEXT, b BLOB, n REAL)");
  Statement insert = database.prepare("INSERT INTO t VALUES (?1, ?2, ?3, ?4, ?5)");
  std::string blob("\0x\xff", 3);
  insert.bind(1, INT64_MIN).bind(2, 0.1).bind(3, "tëxt").bindBlob(4, blob).bind(5, std::nan(""));
  insert.run();
  insert.bind(1, true).bind(2, INFINITY).bind(3, std::string_view()).bindBlob(4, {}).bindNull(5);
  insert.run();
  Statement select = database.prepare("SELECT i, r, s, b, n FROM t ORDER BY rowid");
  REQUIRE(select.step());
  CHECK(select.integer(0) == INT64_MIN);
  CHECK(select.real(1) == 0.1);
  CHECK(select.text(2) == "tëxt");
  CHECK(select.blob(3) == blob);
  CHECK(std::isnan(select.real(4)));
  CHECK_FALSE(select.optionalReal(4).has_value());
  CHECK_THROWS_AS(select.digest(3), StorageError);
  REQUIRE(select.step());
  CHECK(select.real(1) == INFINITY);
  CHECK(select.text(2).empty());
  CHECK_FALSE(select.isNull(2));
  CHECK_FALSE(select.step());
}

TEST_CASE("a wrong statement says which file it was for") {
  ScratchDir dir;
  Database database(dir / "x.sqlite", OpenMode::Write);
  CHECK_THROWS_WITH_AS(database.prepare("SELECT * FROM missing"),
                       doctest::Contains((dir / "x.sqlite").c_str()), StorageError);
}

TEST_CASE("migration goes forwards from any version and is kept in the file") {
  ScratchDir dir;
  std::string path = dir / "x.sqlite";
  {
    Database database(path, OpenMode::Write);
    migrate(database, kOld);
    CHECK(database.queryInteger("PRAGMA user_version") == 1);
  }
  {
    Database database(path, OpenMode::Write);
    migrate(database, kNew);
    CHECK(database.queryInteger("SELECT size FROM things WHERE name = 'a'") == 7);
    CHECK(database.queryInteger("PRAGMA user_version") == 3);
  }
  Database database(path, OpenMode::Write);
  migrate(database, kNew);
  CHECK(database.queryInteger("SELECT count(*) FROM things") == 1);
  CHECK_NOTHROW(requireSchema(database, kNew));
}

TEST_CASE("a migration that fails leaves the old version") {
  ScratchDir dir;
  Database database(dir / "x.sqlite", OpenMode::Write);
  migrate(database, kOld);
  CHECK_THROWS_AS(migrate(database, kBroken), StorageError);
  CHECK(database.queryInteger("PRAGMA user_version") == 1);
  CHECK(database.queryInteger("SELECT count(*) FROM sqlite_schema WHERE name = 'more'") == 0);
  CHECK_FALSE(database.inTransaction());
}

TEST_CASE("a file of a later version is refused, an older one can be read") {
  ScratchDir dir;
  Database database(dir / "x.sqlite", OpenMode::Write);
  migrate(database, kNew);
  try {
    migrate(database, kOld);
    FAIL("accepted");
  } catch (const StorageError& error) {
    CHECK(error.kind() == StorageErrorKind::TooNew);
    CHECK(std::string(error.what()).find("newer version of Nocturne (schema 3") !=
          std::string::npos);
  }
  Database older(dir / "y.sqlite", OpenMode::Write);
  migrate(older, kOld);
  CHECK(requireSchema(older, kNew) == 1); // whoever reads does without what is new
}

TEST_CASE("another program's database is not ours") {
  ScratchDir dir;
  executeSql(dir / "x.sqlite", "CREATE TABLE mail (id INTEGER)");
  CHECK(kindOfOpening(dir / "x.sqlite") == StorageErrorKind::Corrupt);
}

TEST_CASE("two processes may make the same file at once") {
  ScratchDir dir;
  std::string path = dir / "x.sqlite";
  for (int round = 0; round < 20; ++round) {
    auto open = [&](const std::function<void()>&) {
      Database database(path, OpenMode::Write);
      migrate(database, kNew);
      return static_cast<int>(database.queryInteger("SELECT count(*) FROM things"));
    };
    Child one(open), two(open), three(open);
    CHECK(one.exitCode() == 1);
    CHECK(two.exitCode() == 1);
    CHECK(three.exitCode() == 1);
    std::filesystem::remove(path);
  }
}

TEST_CASE("what lies in place of a database is told apart") {
  ScratchDir dir;
  std::string message;
  SUBCASE("text") {
    writeText(dir / "x", std::string(5000, 'x'));
    CHECK(kindOfOpening(dir / "x", &message) == StorageErrorKind::Corrupt);
  }
  SUBCASE("a directory") {
    std::filesystem::create_directory(dir / "x");
    CHECK(kindOfOpening(dir / "x", &message) == StorageErrorKind::Other);
    CHECK(message.find("not a regular file") != std::string::npos);
  }
  SUBCASE("nothing, and no directory for it") {
    CHECK(kindOfOpening(dir / "none/x", &message) == StorageErrorKind::Missing);
    message = dir / "x"; // the path below is another
    CHECK_THROWS_AS(openForReading(dir / "none/x"), StorageError);
  }
  SUBCASE("an empty file is a new one") {
    writeText(dir / "x", "");
    Database database(dir / "x", OpenMode::Write);
    CHECK_NOTHROW(migrate(database, kNew));
    message = dir / "x";
  }
  CHECK(message.find(dir.path()) != std::string::npos);
}

TEST_CASE("names that mean something to SQLite or in an URI are only names") {
  ScratchDir dir;
  for (const char* name : {"a?b#c%20d", "file:x", "with space"}) {
    std::string path = dir / name;
    {
      Database database(path, OpenMode::Write);
      migrate(database, kNew);
    }
    CHECK(exists(path));
    Database database(path, OpenMode::Immutable);
    CHECK(database.queryInteger("SELECT count(*) FROM things") == 1);
  }
}

TEST_CASE("a rollback and a failing commit leave what was committed") {
  ScratchDir dir;
  Database database(dir / "x.sqlite", OpenMode::Write);
  migrate(database, kNew);
  database.begin();
  database.execute("INSERT INTO things (name) VALUES ('b')");
  database.rollback();
  database.rollback();
  CHECK(database.queryInteger("SELECT count(*) FROM things") == 1);
  CHECK_THROWS_AS(database.commit(), StorageError); // none open
}

TEST_CASE("a directory that cannot be written is read all the same") {
  if (!runsAsRoot()) {
    MESSAGE("skipped: needs root to become somebody else");
    return;
  }
  ScratchDir dir;
  std::string path = dir / "x.sqlite";
  {
    Database database(path, OpenMode::Write);
    migrate(database, kNew);
  }
  std::filesystem::permissions(dir.path(), std::filesystem::perms(0755));
  CHECK(asNobody([&] {
          try {
            Database database(path, OpenMode::Write);
            return 1;
          } catch (const StorageError& error) {
            if (error.kind() != StorageErrorKind::ReadOnly)
              return 2;
          }
          Database database = openForReading(path);
          return database.queryInteger("SELECT count(*) FROM things") == 1 ? 0 : 3;
        }) == 0);
  // A log that cannot be replayed might hold half of the truth.
  writeText(path + "-wal", "log");
  CHECK(asNobody([&] {
          try {
            Database database = openForReading(path);
            return 1;
          } catch (const StorageError&) {
            return 0;
          }
        }) == 0);
}

TEST_CASE("a database is not retired while somebody reads it") {
  ScratchDir dir;
  std::string path = dir / "x.sqlite";
  Database writer(path, OpenMode::Write);
  migrate(writer, kNew);
  {
    Database reader(path, OpenMode::Read);
    CHECK(reader.queryInteger("SELECT count(*) FROM things") == 1);
    CHECK_THROWS_AS(writer.retire(std::chrono::milliseconds(0)), StorageError);
    CHECK_THROWS_AS(reader.execute("DELETE FROM things"), StorageError);
  }
  writer.retire(std::chrono::milliseconds(0));
  CHECK_FALSE(exists(path + "-wal"));
  CHECK_FALSE(exists(path + "-shm"));
  CHECK(writer.queryInteger("SELECT count(*) FROM things") == 1);
}

TEST_CASE("a moved database takes its log along and replaces what was there") {
  ScratchDir dir;
  for (const char* suffix : {"", "-wal", "-shm"})
    writeText((dir / "a") + suffix, std::string("a") + suffix);
  writeText(dir / "b", "old");
  moveDatabase(dir / "a", dir / "b");
  CHECK(namesWith(dir.path(), "a").empty());
  CHECK(readText(dir / "b") == "a");
  CHECK(readText(dir / "b-wal") == "a-wal");
  writeText(dir / "a", "alone");
  moveDatabase(dir / "a", dir / "b");
  CHECK_FALSE(exists(dir / "b-wal"));
  writeText(corruptName(dir / "a"), "");
  CHECK_FALSE(exists(corruptName(dir / "a")));
}

} // namespace
} // namespace nocturne
