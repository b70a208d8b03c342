// run.sqlite: what one run was asked and what came of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/services.h"
#include "engine/sweep_plan.h"
#include "storage/database.h"
#include "storage/file_lock.h"

namespace nocturne {

// The tables of run.sqlite, in version order.
extern const Schema kRunSchema;

// "<outputDir>/run.sqlite"
std::string runRecordPath(const std::string& outputDir);

// Writes run.sqlite. Rowid tables: `run` (one row: the plan as JSON, its digest, provenance, times
// and outcome), `modules` (by plan index), `shards` and `items`, whose rowid is module * pointCount
// + point, so that a shard's rows are neighbours and the order of the rowids is that of the report.
// A shard and its items are put together; an item without a row was not run. Items do not repeat
// the configuration (it follows from the plan) nor the fingerprint (it is the module's).
//
// An exclusive lock on `run.lock` beside it is held for the object's life. One thread at a time.
class SqliteRunRecord : public RunRecord {
public:
  ~SqliteRunRecord() override;

  void begin() override;
  void commit() override;
  // Replaces a shard or item that is there already.
  void putShard(const ShardRecord& shard) override;
  std::vector<std::pair<uint64_t, uint64_t>> doneShards() override;
  // Only "complete" closes the record; any other outcome leaves it to be resumed.
  void putMetadata(const std::string& json) override;
  void finish(const std::string& outcome) override;
  // The reports of a complete run are written: the same command then starts anew. Without this it
  // goes on, finds everything done and writes them.
  void markReported();

  const std::string& path() const { return database_.path(); }

private:
  friend struct OpenedRun openRunRecord(const std::string&, const SweepPlan&, const std::string&,
                                        const std::string&);
  struct Statements;
  SqliteRunRecord(FileLock lock, Database database, uint64_t pointCount);
  int64_t rowId(uint64_t module, uint64_t point) const;
  void putItem(uint64_t module, const ItemRecord& item);
  void putEvents(const ShardRecord& shard);
  void putFacts(uint64_t module, const ModuleFacts& facts);

  FileLock lock_; // first: released after the database is closed
  Database database_;
  uint64_t pointCount_;
  std::unique_ptr<Statements> statements_;
};

struct OpenedRun {
  std::unique_ptr<SqliteRunRecord> record;
  bool resumed = false;
  std::vector<std::string> warnings;
};

// Opens the record of a run in its output directory (made when missing). A record of the same plan
// and version that is not complete is resumed, but modules that could not be read or whose file has
// changed are done again; any other is moved to run.sqlite.old, replacing an older one; a broken
// one is kept as run.sqlite.corrupt-<time>-<pid>, with a warning. `provenance` is free text (JSON)
// about host and command. Throws StorageError when the directory cannot be written, another run
// uses it (the message names its pid), or the record is of a newer version.
OpenedRun openRunRecord(const std::string& outputDir, const SweepPlan& plan,
                        const std::string& nocturneVersion = {},
                        const std::string& provenance = {});

} // namespace nocturne
