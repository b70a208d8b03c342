#include "storage/run_record.h"

#include <ctime>

#include "engine/file_bytes.h"
#include "storage/atomic_file.h"
#include "storage/blob_codec.h"
#include "storage/facts_columns.h"

namespace nocturne {

namespace {

constexpr const char* kVersion1 = R"sql(
CREATE TABLE run (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  plan TEXT NOT NULL,
  plan_digest BLOB NOT NULL,
  module_count INTEGER NOT NULL,
  point_count INTEGER NOT NULL,
  started TEXT NOT NULL,
  finished TEXT NOT NULL DEFAULT '',
  outcome TEXT NOT NULL DEFAULT '',
  nocturne_version TEXT NOT NULL,
  provenance TEXT NOT NULL);
CREATE TABLE modules (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  path TEXT NOT NULL,
  content_hash BLOB, fingerprint BLOB, row_count INTEGER,
  collectives REAL, collective_bytes REAL, peak_bytes REAL,
  assumptions TEXT);
CREATE TABLE shards (
  id INTEGER PRIMARY KEY,
  attempts INTEGER NOT NULL,
  statistics BLOB NOT NULL);
CREATE TABLE items (
  id INTEGER PRIMARY KEY,
  status INTEGER NOT NULL,
  from_cache INTEGER NOT NULL,
  key BLOB NOT NULL,
  runtime REAL, flops REAL, bytes REAL, covered_runs REAL, total_runs REAL,
  notes TEXT,
  failure TEXT, failure_message TEXT, failure_file TEXT, failure_line INTEGER,
  failure_column INTEGER, failure_op INTEGER);
)sql";

constexpr const char* kVersion2 = R"sql(
ALTER TABLE run ADD COLUMN metadata TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN reported INTEGER NOT NULL DEFAULT 0;
CREATE TABLE events (
  id INTEGER PRIMARY KEY,
  lines BLOB NOT NULL);
)sql";

constexpr const char* kSteps[] = {kVersion1, kVersion2};

// How long a report may keep the record of an earlier run from being moved aside.
constexpr std::chrono::seconds kReaderPatience{10};

constexpr const char* kPutItemSql =
    "INSERT OR REPLACE INTO items (id, status, from_cache, key, runtime, flops, bytes, "
    "covered_runs, "
    "total_runs, notes, failure, failure_message, failure_file, failure_line, failure_column, "
    "failure_op) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";
constexpr const char* kPutFactsSql =
    "UPDATE modules SET content_hash = ?1, fingerprint = ?2, row_count = ?3, collectives = ?4, "
    "collective_bytes = ?5, peak_bytes = ?6, assumptions = ?7 WHERE id = ?8 AND "
    "content_hash IS NOT ?1";

std::string utcNow() {
  std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

} // namespace

const Schema kRunSchema{"a record of a Nocturne run", 0x4e637472 /* "Nctr" */, kSteps};

std::string runRecordPath(const std::string& outputDir) {
  return outputDir + "/run.sqlite";
}

// --- Writing

struct SqliteRunRecord::Statements {
  explicit Statements(const Database& database)
      : putItem(database.prepare(kPutItemSql)), putFacts(database.prepare(kPutFactsSql)),
        putShard(database.prepare(
            "INSERT OR REPLACE INTO shards (id, attempts, statistics) VALUES (?1, ?2, ?3)")),
        doneShards(database.prepare("SELECT id FROM shards ORDER BY id")),
        putEvents(database.prepare("INSERT OR REPLACE INTO events (id, lines) VALUES (?1, ?2)")),
        noEvents(database.prepare("DELETE FROM events WHERE id >= ?1 AND id < ?2")),
        putMetadata(database.prepare("UPDATE run SET metadata = ?1")),
        finish(database.prepare("UPDATE run SET outcome = ?1, finished = ?2")) {}

  Statement putItem, putFacts, putShard, doneShards, putEvents, noEvents, putMetadata, finish;
};

SqliteRunRecord::SqliteRunRecord(FileLock lock, Database database, uint64_t pointCount)
    : lock_(std::move(lock)), database_(std::move(database)), pointCount_(pointCount),
      statements_(std::make_unique<Statements>(database_)) {}

SqliteRunRecord::~SqliteRunRecord() = default;

void SqliteRunRecord::begin() {
  database_.ensureBegun();
}

void SqliteRunRecord::commit() {
  if (database_.inTransaction())
    database_.commit();
}

int64_t SqliteRunRecord::rowId(uint64_t module, uint64_t point) const {
  return static_cast<int64_t>(module * pointCount_ + point);
}

void SqliteRunRecord::putShard(const ShardRecord& shard) {
  if (shard.firstPoint >= pointCount_)
    throw StorageError(StorageErrorKind::Other, path() + ": the plan has no such point");
  std::string statistics = encodeBlob(shard.statistics);
  database_.write([&] {
    for (const ItemRecord& item : shard.items)
      if (item.status != ItemStatus::NotRun)
        putItem(shard.module, item);
    putEvents(shard);
    if (shard.facts)
      putFacts(shard.module, *shard.facts);
    Statement& statement = statements_->putShard;
    StatementScope scope(statement);
    statement.bind(1, rowId(shard.module, shard.firstPoint))
        .bind(2, shard.attempts)
        .bindBlob(3, statistics)
        .step();
  });
}

void SqliteRunRecord::putItem(uint64_t module, const ItemRecord& item) {
  Statement& statement = statements_->putItem;
  StatementScope scope(statement);
  const ResultRow& result = item.result;
  statement.bind(1, rowId(module, item.point))
      .bind(2, static_cast<int>(item.status))
      .bind(3, item.fromCache)
      .bind(4, result.key)
      .bind(5, result.runtime)
      .bind(6, result.flops)
      .bind(7, result.bytes)
      .bind(8, result.coveredRuns)
      .bind(9, result.totalRuns)
      .bind(10, std::string_view(result.notes));
  if (item.failure)
    statement.bind(11, toString(item.failure->kind))
        .bind(12, std::string_view(item.failure->message))
        .bind(13, std::string_view(item.failure->file))
        .bind(14, item.failure->line)
        .bind(15, item.failure->column)
        .bind(16, result.failureOp);
  statement.step();
}

void SqliteRunRecord::putEvents(const ShardRecord& shard) {
  const int64_t first = rowId(shard.module, shard.firstPoint);
  // Of a shard that is put again: one statement, since hardly any has events.
  statements_->noEvents.bind(1, first)
      .bind(2, first + static_cast<int64_t>(shard.items.size()))
      .run();
  for (const ItemRecord& item : shard.items) {
    if (item.events.empty())
      continue;
    const std::string lines = encodeBlob(item.events);
    Statement& statement = statements_->putEvents;
    StatementScope scope(statement);
    statement.bind(1, rowId(shard.module, item.point)).bindBlob(2, lines).step();
  }
}

void SqliteRunRecord::putFacts(uint64_t module, const ModuleFacts& facts) {
  std::string assumptions = assumptionsText(facts.assumptions);
  Statement& statement = statements_->putFacts;
  StatementScope scope(statement);
  bindFacts(statement, 1, facts, assumptions);
  statement.bind(kFactsColumns + 1, module).step();
}

std::vector<std::pair<uint64_t, uint64_t>> SqliteRunRecord::doneShards() {
  std::vector<std::pair<uint64_t, uint64_t>> done;
  Statement& statement = statements_->doneShards;
  StatementScope scope(statement);
  while (statement.step()) {
    auto id = static_cast<uint64_t>(statement.integer(0));
    done.emplace_back(id / pointCount_, id % pointCount_);
  }
  return done;
}

void SqliteRunRecord::putMetadata(const std::string& json) {
  database_.write([&] { statements_->putMetadata.bind(1, std::string_view(json)).run(); });
}

void SqliteRunRecord::markReported() {
  database_.write([&] { database_.execute("UPDATE run SET reported = 1"); });
}

void SqliteRunRecord::finish(const std::string& outcome) {
  std::string now = utcNow();
  database_.write([&] {
    statements_->finish.bind(1, std::string_view(outcome)).bind(2, std::string_view(now)).run();
  });
}

// --- Opening

namespace {

FileLock lockOutput(const std::string& outputDir) {
  std::string path = outputDir + "/run.lock";
  auto lock = FileLock::tryAcquire(path, FileLock::Mode::Exclusive, "nocturne run");
  if (lock)
    return std::move(*lock);
  std::string who = FileLock::holder(path);
  throw StorageError(StorageErrorKind::Other,
                     "output directory " + outputDir + " is in use by " +
                         (who.empty() ? "another run" : who) +
                         "; wait for it, stop it or choose another output directory");
}

enum class Found { Nothing, Same, Other };

// A run that another version began is not gone on with: two versions may estimate differently. What
// has not changed comes from the cache.
Found compare(const Database& database, const Digest& planDigest, const std::string& version) {
  Statement statement =
      database.prepare("SELECT plan_digest, outcome, nocturne_version, reported FROM run");
  if (!statement.step())
    return Found::Nothing;
  const bool over = statement.text(1) == "complete" && statement.integer(3) != 0;
  const bool same = statement.digest(0) == planDigest && !over && statement.text(2) == version;
  return same ? Found::Same : Found::Other;
}

void insertPlan(Database& database, const SweepPlan& plan, const std::string& version,
                const std::string& provenance) {
  std::string text = plan.toJson().dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string now = utcNow();
  Digest digest = plan.digest();
  Statement run = database.prepare(
      "INSERT INTO run (id, plan, plan_digest, module_count, point_count, started, "
      "nocturne_version, provenance) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)");
  run.bind(1, std::string_view(text))
      .bind(2, digest)
      .bind(3, plan.modules.size())
      .bind(4, plan.pointCount())
      .bind(5, std::string_view(now))
      .bind(6, std::string_view(version))
      .bind(7, std::string_view(provenance))
      .run();
  Statement module = database.prepare("INSERT INTO modules (id, name, path) VALUES (?1, ?2, ?3)");
  for (size_t i = 0; i < plan.modules.size(); ++i)
    module.bind(1, i)
        .bind(2, std::string_view(plan.modules[i].name))
        .bind(3, std::string_view(plan.modules[i].path))
        .run();
}

void checkSize(const SweepPlan& plan) {
  uint64_t points = plan.pointCount();
  if (points != 0 && plan.modules.size() > (uint64_t{1} << 62) / points)
    throw StorageError(StorageErrorKind::Other, "the plan has more items than can be numbered");
}

struct Begun {
  uint64_t module;
  std::string path;
  std::optional<Digest> contentHash;
};

// Modules of which at least one shard is done.
std::vector<Begun> begunModules(const Database& database, uint64_t pointCount) {
  std::vector<Begun> begun;
  Statement statement = database.prepare(
      "SELECT id, path, content_hash FROM modules WHERE EXISTS (SELECT 1 FROM shards WHERE "
      "shards.id >= modules.id * ?1 AND shards.id < (modules.id + 1) * ?1) ORDER BY id");
  statement.bind(1, pointCount);
  while (statement.step()) {
    Begun& module = begun.emplace_back();
    module.module = static_cast<uint64_t>(statement.integer(0));
    module.path = statement.text(1);
    if (!statement.isNull(2))
      module.contentHash = statement.digest(2);
  }
  return begun;
}

void forgetModule(Database& database, uint64_t module, uint64_t pointCount) {
  for (const char* sql : {"DELETE FROM shards WHERE id >= ?1 * ?2 AND id < (?1 + 1) * ?2",
                          "DELETE FROM events WHERE id >= ?1 * ?2 AND id < (?1 + 1) * ?2",
                          "DELETE FROM items WHERE id >= ?1 * ?2 AND id < (?1 + 1) * ?2"})
    database.prepare(sql).bind(1, module).bind(2, pointCount).run();
  database
      .prepare("UPDATE modules SET content_hash = NULL, fingerprint = NULL, row_count = NULL, "
               "collectives = NULL, collective_bytes = NULL, peak_bytes = NULL, assumptions = NULL "
               "WHERE id = ?1")
      .bind(1, module)
      .run();
}

// A file that was edited since it was estimated, or could not be read, is done again: a run never
// mixes results of two contents.
void prepareResumption(Database& database, uint64_t pointCount,
                       std::vector<std::string>& warnings) {
  if (database.queryText("PRAGMA quick_check(1)") != "ok")
    throw StorageError(StorageErrorKind::Corrupt, database.path() + ": fails its integrity check");
  database.begin();
  for (const Begun& begun : begunModules(database, pointCount)) {
    if (begun.contentHash && hasContent(begun.path, *begun.contentHash))
      continue;
    if (begun.contentHash)
      warnings.push_back(begun.path + " has changed since this run began; it is estimated again");
    forgetModule(database, begun.module, pointCount);
  }
  database.execute("UPDATE run SET outcome = '', finished = '', reported = 0");
  database.commit();
}

void retire(Database& database) {
  try {
    database.retire(kReaderPatience);
  } catch (const StorageError& error) {
    if (error.kind() != StorageErrorKind::Other)
      throw;
    throw StorageError(error.kind(), database.path() +
                                         ": another process is reading it; let it end or choose "
                                         "another output directory");
  }
}

// An existing record that goes on, or nothing after it was moved out of the way.
std::optional<Database> reopen(const std::string& path, const SweepPlan& plan,
                               const std::string& version, Found& found,
                               std::vector<std::string>& warnings) {
  std::string target = path + ".old";
  try {
    Database database(path, OpenMode::Write);
    migrate(database, kRunSchema);
    found = compare(database, plan.digest(), version);
    if (found == Found::Same)
      prepareResumption(database, plan.pointCount(), warnings);
    if (found != Found::Other)
      return database;
    retire(database);
  } catch (const StorageError& error) {
    if (error.kind() != StorageErrorKind::Corrupt)
      throw;
    target = corruptName(path);
    warnings.push_back(std::string(error.what()) + "; it is kept as " + target +
                       " and the run starts from the beginning");
  }
  moveDatabase(path, target);
  found = Found::Nothing;
  return std::nullopt;
}

} // namespace

OpenedRun openRunRecord(const std::string& outputDir, const SweepPlan& plan,
                        const std::string& nocturneVersion, const std::string& provenance) {
  checkSize(plan);
  makeDirectories(outputDir);
  FileLock lock = lockOutput(outputDir);
  std::string path = runRecordPath(outputDir);
  OpenedRun opened;
  Found found = Found::Nothing;
  std::optional<Database> database = reopen(path, plan, nocturneVersion, found, opened.warnings);
  if (!database) {
    database.emplace(path, OpenMode::Write);
    migrate(*database, kRunSchema);
  }
  opened.resumed = found == Found::Same;
  if (!opened.resumed) {
    database->write([&] { insertPlan(*database, plan, nocturneVersion, provenance); });
  }
  opened.record.reset(
      new SqliteRunRecord(std::move(lock), std::move(*database), plan.pointCount()));
  return opened;
}

} // namespace nocturne
