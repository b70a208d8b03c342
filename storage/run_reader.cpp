#include "storage/run_reader.h"

#include <filesystem>

#include "storage/blob_codec.h"
#include "storage/facts_columns.h"
#include "storage/run_record.h"

namespace nocturne {

namespace {

constexpr const char* kItemsSql =
    "SELECT id, status, from_cache, key, runtime, flops, bytes, covered_runs, total_runs, notes, "
    "failure, failure_message, failure_file, failure_line, failure_column, failure_op FROM items "
    "WHERE id >= ?1 AND id < ?2 ORDER BY id";

std::string modulesSql() {
  return std::string("SELECT id, name, path, content_hash IS NOT NULL, ") + kFactsColumnNames +
         " FROM modules ORDER BY id";
}

RunModule readModule(const Statement& statement) {
  RunModule module;
  module.index = static_cast<uint64_t>(statement.integer(0));
  module.name = statement.text(1);
  module.path = statement.text(2);
  if (statement.integer(3) != 0)
    module.facts = readFacts(statement, 4);
  return module;
}

Failure readFailure(const Statement& statement) {
  Failure failure;
  failure.kind = failureKindFromString(statement.text(10));
  failure.message = statement.text(11);
  failure.file = statement.text(12);
  failure.line = static_cast<uint32_t>(statement.integer(13));
  failure.column = static_cast<uint32_t>(statement.integer(14));
  return failure;
}

ItemRecord readItem(const Statement& statement, uint64_t point) {
  ItemRecord item;
  item.point = point;
  item.status = statement.integer(1) == static_cast<int>(ItemStatus::Ok) ? ItemStatus::Ok
                                                                         : ItemStatus::Failed;
  item.fromCache = statement.integer(2) != 0;
  ResultRow& result = item.result;
  result.key = statement.digest(3);
  result.success = item.status == ItemStatus::Ok;
  result.runtime = statement.optionalReal(4);
  result.flops = statement.real(5);
  result.bytes = statement.real(6);
  result.coveredRuns = statement.real(7);
  result.totalRuns = statement.real(8);
  result.notes = statement.text(9);
  if (!statement.isNull(10)) {
    item.failure = readFailure(statement);
    result.failure = item.failure->kind;
    result.failureMessage = item.failure->message;
    result.failureOp = statement.integer(15);
  }
  return item;
}

// What the engine cannot make sense of was not written by us.
template <typename Work>
auto translateErrors(const Database& database, const Work& work) {
  try {
    return work();
  } catch (const StorageError&) {
    throw;
  } catch (const Error& error) {
    throw StorageError(StorageErrorKind::Corrupt, database.path() + ": " + error.what());
  } catch (const Json::exception& error) {
    throw StorageError(StorageErrorKind::Corrupt, database.path() + ": " + error.what());
  }
}

std::string recordFile(const std::string& outputDirOrFile) {
  std::error_code error;
  return std::filesystem::is_directory(outputDirOrFile, error) ? runRecordPath(outputDirOrFile)
                                                               : outputDirOrFile;
}

} // namespace

RunReader::RunReader(const std::string& outputDirOrFile)
    : database_(openForReading(recordFile(outputDirOrFile))) {
  version_ = requireSchema(database_, kRunSchema);
  readFacts();
}

void RunReader::readFacts() {
  ReadScope scope(database_);
  // Records of version 1 have neither metadata nor events.
  const std::string columns = "plan, plan_digest, module_count, point_count, started, finished, "
                              "outcome, nocturne_version, provenance";
  Statement run =
      database_.prepare("SELECT " + columns + (version_ < 2 ? ", ''" : ", metadata") + " FROM run");
  if (!run.step())
    throw StorageError(StorageErrorKind::Missing, database_.path() + ": the run never began");
  translateErrors(database_, [&] { facts_.plan = SweepPlan::fromJson(Json::parse(run.text(0))); });
  facts_.planDigest = run.digest(1);
  facts_.moduleCount = static_cast<uint64_t>(run.integer(2));
  facts_.pointCount = static_cast<uint64_t>(run.integer(3));
  facts_.started = run.text(4);
  facts_.finished = run.text(5);
  facts_.outcome = run.text(6);
  facts_.nocturneVersion = run.text(7);
  facts_.provenance = run.text(8);
  facts_.metadata = run.text(9);
  Statement module = database_.prepare("SELECT path, name FROM modules ORDER BY id");
  facts_.plan.modules.clear();
  while (module.step())
    facts_.plan.modules.push_back({std::string(module.text(0)), std::string(module.text(1))});
  if (facts_.moduleCount != facts_.plan.modules.size() ||
      facts_.pointCount != facts_.plan.pointCount())
    throw StorageError(StorageErrorKind::Corrupt,
                       database_.path() + ": its plan has other modules or points");
}

RunCounts RunReader::counts() {
  ReadScope scope(database_);
  Statement statement =
      database_.prepare("SELECT status, count(*), sum(from_cache) FROM items GROUP BY status");
  RunCounts counts;
  while (statement.step()) {
    auto number = static_cast<uint64_t>(statement.integer(1));
    bool ok = statement.integer(0) == static_cast<int>(ItemStatus::Ok);
    (ok ? counts.ok : counts.failed) += number;
    counts.cacheHits += static_cast<uint64_t>(statement.integer(2));
  }
  counts.notRun = facts_.moduleCount * facts_.pointCount - counts.ok - counts.failed;
  return counts;
}

void RunReader::forEachModule(const std::function<void(const RunModule&)>& callback) {
  ReadScope scope(database_);
  Statement statement = database_.prepare(modulesSql());
  while (statement.step())
    callback(translateErrors(database_, [&] { return readModule(statement); }));
}

void RunReader::forEachItem(const ItemCallback& callback) {
  ReadScope scope(database_);
  Statement items = database_.prepare(kItemsSql);
  forEachModule([&](const RunModule& module) { itemsOf(items, module, callback); });
}

void RunReader::itemsOf(Statement& items, const RunModule& module, const ItemCallback& callback) {
  uint64_t first = module.index * facts_.pointCount;
  StatementScope scope(items);
  items.bind(1, first).bind(2, first + facts_.pointCount);
  ItemRecord missing;
  bool more = items.step();
  for (uint64_t point = 0; point < facts_.pointCount; ++point) {
    if (!more || static_cast<uint64_t>(items.integer(0)) != first + point) {
      missing.point = point;
      callback(module, missing);
      continue;
    }
    ItemRecord item = translateErrors(database_, [&] { return readItem(items, point); });
    if (module.facts)
      item.result.fingerprint = module.facts->fingerprint;
    callback(module, item);
    more = items.step();
  }
}

void RunReader::forEachShard(const std::function<void(const RunShard&)>& callback) {
  if (facts_.pointCount == 0)
    return;
  ReadScope scope(database_);
  Statement statement =
      database_.prepare("SELECT id, attempts, statistics FROM shards ORDER BY id");
  while (statement.step()) {
    auto id = static_cast<uint64_t>(statement.integer(0));
    callback({id / facts_.pointCount, id % facts_.pointCount,
              static_cast<uint32_t>(statement.integer(1)),
              translateErrors(database_, [&] { return decodeBlob(statement.blob(2)); })});
  }
}

void RunReader::forEachEvents(const EventsCallback& callback) {
  if (facts_.pointCount == 0 || version_ < 2)
    return;
  ReadScope scope(database_);
  Statement statement = database_.prepare("SELECT id, lines FROM events ORDER BY id");
  while (statement.step()) {
    auto id = static_cast<uint64_t>(statement.integer(0));
    callback(id / facts_.pointCount, id % facts_.pointCount,
             translateErrors(database_, [&] { return decodeBlob(statement.blob(1)); }));
  }
}

} // namespace nocturne
