#include "storage/result_cache.h"

#include <algorithm>
#include <numeric>

#include "storage/blob_codec.h"
#include "storage/facts_columns.h"

namespace nocturne {

namespace {

constexpr const char* kVersion1 = R"sql(
CREATE TABLE estimators (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE);
CREATE TABLE configurations (
  id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  estimator INTEGER REFERENCES estimators (id),
  options TEXT);
CREATE TABLE modules (
  id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE);
CREATE TABLE results (
  key BLOB NOT NULL PRIMARY KEY,
  configuration INTEGER NOT NULL,
  module INTEGER NOT NULL,
  success INTEGER NOT NULL,
  runtime REAL, flops REAL, bytes REAL, covered_runs REAL, total_runs REAL,
  notes TEXT,
  failure TEXT, failure_message TEXT, failure_op INTEGER);
CREATE TABLE readers (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE);
CREATE TABLE files (
  content_hash BLOB NOT NULL,
  reader INTEGER NOT NULL REFERENCES readers (id),
  fingerprint BLOB NOT NULL,
  row_count INTEGER NOT NULL,
  collectives REAL, collective_bytes REAL, peak_bytes REAL,
  assumptions TEXT NOT NULL,
  failure TEXT, failure_message TEXT, failure_line INTEGER, failure_column INTEGER,
  module_table BLOB,
  PRIMARY KEY (content_hash, reader));
)sql";

constexpr const char* kVersion2 = R"sql(
CREATE TABLE result_details (
  key BLOB NOT NULL PRIMARY KEY,
  details BLOB NOT NULL);
)sql";

constexpr const char* kSteps[] = {kVersion1, kVersion2};
constexpr Schema kCacheSchema{"a Nocturne result cache", 0x4e637463 /* "Nctc" */, kSteps};

// Sixteen megabytes of log before they are carried over: the index is touched all over, so a longer
// log merges more writes of one page.
constexpr int kCheckpointPages = 4096;

// SQLite refuses blobs above a thousand million bytes; a larger table is read from its file again.
constexpr size_t kLargestTable = 900'000'000;

constexpr const char* kFindSql = "SELECT configuration, module, success, runtime, flops, bytes, "
                                 "covered_runs, total_runs, notes, "
                                 "failure, failure_message, failure_op FROM results WHERE key = ?1";
constexpr const char* kInsertSql =
    "INSERT INTO results (key, configuration, module, success, runtime, flops, bytes, "
    "covered_runs, "
    "total_runs, notes, failure, failure_message, failure_op) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) ON CONFLICT DO NOTHING";
constexpr const char* kFilesFrom =
    " FROM files WHERE content_hash = ?1 AND reader = (SELECT id FROM readers WHERE text = ?2)";
// A table is kept when the same file is put again without one.
constexpr const char* kInsertFileSql =
    "INSERT INTO files (content_hash, fingerprint, row_count, collectives, collective_bytes, "
    "peak_bytes, assumptions, reader, failure, failure_message, failure_line, failure_column, "
    "module_table) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, (SELECT id FROM readers WHERE text = ?8), "
    "?9, "
    "?10, ?11, ?12, ?13) "
    "ON CONFLICT (content_hash, reader) DO UPDATE SET module_table = excluded.module_table "
    "WHERE excluded.module_table IS NOT NULL";

[[noreturn]] void failCorrupt(const std::string& path, const std::exception& reason) {
  throw StorageError(StorageErrorKind::Corrupt, path + ": " + reason.what());
}

} // namespace

struct SqliteResultStore::Statements {
  Statements(const Database& database, size_t version)
      : find(database.prepare(kFindSql)), insert(database.prepare(kInsertSql)),
        findFile(database.prepare(std::string("SELECT ") + kFactsColumnNames +
                                  ", failure, failure_message, failure_line, failure_column, "
                                  "module_table IS NOT NULL" +
                                  kFilesFrom)),
        findTable(database.prepare(std::string("SELECT module_table") + kFilesFrom)),
        insertReader(
            database.prepare("INSERT INTO readers (text) VALUES (?1) ON CONFLICT DO NOTHING")),
        insertFile(database.prepare(kInsertFileSql)),
        insertEstimator(
            database.prepare("INSERT INTO estimators (name) VALUES (?1) ON CONFLICT DO NOTHING")),
        describe(database.prepare(
            "UPDATE configurations SET estimator = (SELECT id FROM estimators WHERE name = ?2), "
            "options = ?3 WHERE id = ?1 AND options IS NULL")) {
    if (version < 2)
      return; // read only
    findDetails = database.prepare("SELECT details FROM result_details WHERE key = ?1");
    putDetails = database.prepare("INSERT INTO result_details (key, details) VALUES (?1, ?2) "
                                  "ON CONFLICT DO NOTHING");
  }

  Statement find, insert, findFile, findTable, insertReader, insertFile, insertEstimator, describe;
  std::optional<Statement> findDetails, putDetails;
};

SqliteResultStore::SqliteResultStore(Database database, size_t version)
    : database_(std::move(database)), statements_(std::make_unique<Statements>(database_, version)),
      configurations_(database_, "configurations"), modules_(database_, "modules") {}

std::unique_ptr<SqliteResultStore> SqliteResultStore::create(const std::string& path) {
  Database database(path, OpenMode::Write);
  migrate(database, kCacheSchema);
  database.setCheckpointPages(kCheckpointPages);
  database.execute("PRAGMA cache_size=-2048"); // 2 MiB; the system keeps the rest
  return std::unique_ptr<SqliteResultStore>(
      new SqliteResultStore(std::move(database), kCacheSchema.steps.size()));
}

std::unique_ptr<SqliteResultStore> SqliteResultStore::openReadOnly(const std::string& path) {
  Database database = openForReading(path);
  const size_t version = requireSchema(database, kCacheSchema);
  database.execute("PRAGMA cache_size=-2048");
  return std::unique_ptr<SqliteResultStore>(new SqliteResultStore(std::move(database), version));
}

SqliteResultStore::~SqliteResultStore() = default;

void SqliteResultStore::begin() {
  database_.ensureBegun();
}

void SqliteResultStore::commit() {
  if (!database_.inTransaction())
    return;
  try {
    database_.commit();
  } catch (const StorageError&) {
    forgetIds();
    throw;
  }
}

template <typename Work>
void SqliteResultStore::write(const Work& work) {
  try {
    database_.write(work);
  } catch (...) {
    forgetIds();
    throw;
  }
}

void SqliteResultStore::forgetIds() {
  configurations_.forget();
  modules_.forget();
}

std::vector<std::optional<ResultRow>> SqliteResultStore::find(std::span<const Digest> keys) {
  std::vector<std::optional<ResultRow>> found(keys.size());
  // In key order, neighbours in the index are read while their page is at hand.
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  ReadScope scope(database_);
  for (size_t index : order) {
    Statement& statement = statements_->find;
    StatementScope statementScope(statement);
    if (statement.bind(1, keys[index]).step())
      found[index] = readRow(keys[index]);
  }
  return found;
}

ResultRow SqliteResultStore::readRow(const Digest& key) {
  const Statement& statement = statements_->find;
  ResultRow row;
  row.key = key;
  row.configuration = configurations_.digest(statement.integer(0));
  row.fingerprint = modules_.digest(statement.integer(1));
  row.success = statement.integer(2) != 0;
  row.runtime = statement.optionalReal(3);
  row.flops = statement.real(4);
  row.bytes = statement.real(5);
  row.coveredRuns = statement.real(6);
  row.totalRuns = statement.real(7);
  row.notes = statement.text(8);
  if (statement.isNull(9))
    return row;
  try {
    row.failure = failureKindFromString(statement.text(9));
  } catch (const Error& error) {
    failCorrupt(database_.path(), error);
  }
  row.failureMessage = statement.text(10);
  row.failureOp = statement.integer(11);
  return row;
}

void SqliteResultStore::put(std::span<const ResultRow> rows) {
  write([&] {
    for (const ResultRow& row : rows)
      if (!row.failure || isDeterministic(*row.failure))
        insertRow(row);
  });
}

void SqliteResultStore::insertRow(const ResultRow& row) {
  Statement& statement = statements_->insert;
  StatementScope scope(statement);
  statement.bind(1, row.key)
      .bind(2, configurations_.intern(row.configuration))
      .bind(3, modules_.intern(row.fingerprint))
      .bind(4, row.success)
      .bind(5, row.runtime)
      .bind(6, row.flops)
      .bind(7, row.bytes)
      .bind(8, row.coveredRuns)
      .bind(9, row.totalRuns)
      .bind(10, std::string_view(row.notes));
  if (row.failure)
    statement.bind(11, toString(*row.failure))
        .bind(12, std::string_view(row.failureMessage))
        .bind(13, row.failureOp);
  statement.step();
}

std::string SqliteResultStore::findDetails(const Digest& key) {
  if (!statements_->findDetails)
    return {};
  ReadScope readScope(database_);
  Statement& statement = *statements_->findDetails;
  StatementScope scope(statement);
  if (!statement.bind(1, key).step())
    return {};
  try {
    return decodeBlob(statement.blob(0));
  } catch (const StorageError&) {
    throw;
  } catch (const Error& error) {
    failCorrupt(database_.path(), error);
  }
}

void SqliteResultStore::putDetails(const Digest& key, const std::string& text) {
  std::string blob = encodeBlob(text);
  write([&] {
    Statement& statement = *statements_->putDetails;
    StatementScope scope(statement);
    statement.bind(1, key).bindBlob(2, blob).step();
  });
}

std::optional<FileEntry> SqliteResultStore::findFile(const Digest& contentHash,
                                                     const std::string& readerText,
                                                     bool withTable) {
  ReadScope readScope(database_);
  Statement& statement = statements_->findFile;
  StatementScope scope(statement);
  if (!statement.bind(1, contentHash).bind(2, std::string_view(readerText)).step())
    return std::nullopt;
  FileEntry entry;
  entry.contentHash = contentHash;
  entry.readerText = readerText;
  try {
    entry.facts = readFacts(statement, 0);
    if (!statement.isNull(kFactsColumns)) {
      entry.failure = Failure{failureKindFromString(statement.text(kFactsColumns)),
                              std::string(statement.text(kFactsColumns + 1)), "",
                              static_cast<uint32_t>(statement.integer(kFactsColumns + 2)),
                              static_cast<uint32_t>(statement.integer(kFactsColumns + 3))};
    } else if (withTable) {
      if (statement.integer(kFactsColumns + 4) == 0)
        return std::nullopt;
      entry.table = readTable(contentHash, readerText);
    }
  } catch (const StorageError&) {
    throw;
  } catch (const Error& error) {
    failCorrupt(database_.path(), error);
  }
  return entry;
}

std::string SqliteResultStore::readTable(const Digest& contentHash, const std::string& readerText) {
  Statement& statement = statements_->findTable;
  StatementScope scope(statement);
  statement.bind(1, contentHash).bind(2, std::string_view(readerText)).step();
  return decodeBlob(statement.blob(0));
}

void SqliteResultStore::putFile(const FileEntry& entry) {
  if (entry.failure && !isDeterministic(entry.failure->kind))
    return;
  std::string assumptions = assumptionsText(entry.facts.assumptions);
  std::string table = entry.table.empty() ? std::string() : encodeBlob(entry.table);
  if (table.size() > kLargestTable)
    table.clear();
  ModuleFacts facts = entry.facts;
  facts.contentHash = entry.contentHash;
  write([&] {
    statements_->insertReader.bind(1, std::string_view(entry.readerText)).run();
    Statement& statement = statements_->insertFile;
    StatementScope scope(statement);
    bindFacts(statement, 1, facts, assumptions);
    statement.bind(kFactsColumns + 1, std::string_view(entry.readerText));
    if (entry.failure)
      statement.bind(kFactsColumns + 2, toString(entry.failure->kind))
          .bind(kFactsColumns + 3, std::string_view(entry.failure->message))
          .bind(kFactsColumns + 4, entry.failure->line)
          .bind(kFactsColumns + 5, entry.failure->column);
    if (!table.empty())
      statement.bindBlob(kFactsColumns + 6, table);
    statement.step();
  });
}

void SqliteResultStore::putConfiguration(const Digest& configuration, const std::string& estimator,
                                         const std::string& options) {
  write([&] {
    statements_->insertEstimator.bind(1, std::string_view(estimator)).run();
    statements_->describe.bind(1, configurations_.intern(configuration))
        .bind(2, std::string_view(estimator))
        .bind(3, std::string_view(options))
        .run();
  });
}

} // namespace nocturne
