// Abstract services: what the actors and the estimators need from the outside world. Storage and
// compiler implement them; tests fake them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/kernel_builder.h"
#include "engine/module.h"
#include "engine/result.h"
#include "engine/sweep_plan.h"

namespace nocturne {

// Turns a file into a table. Thread-safe. Throws ItemError.
class ModuleReader {
public:
  virtual ~ModuleReader() = default;
  virtual ModulePtr read(const std::string& path) = 0;
  // Reader version and options: part of every key.
  virtual std::string keyText() const = 0;
};

// What a results row says of a module without its table.
struct ModuleFacts {
  Digest contentHash, fingerprint;
  uint64_t rows = 0;
  double collectives = 0, collectiveBytes = 0, peakBytes = 0;
  std::vector<Assumption> assumptions;
};
ModuleFacts factsOf(const Module& module);

// One row of the result cache: narrow on purpose.
struct ResultRow {
  Digest key, configuration, fingerprint;
  bool success = false;
  std::optional<double> runtime; // seconds
  double flops = 0, bytes = 0;
  double coveredRuns = 0, totalRuns = 0;
  // JSON: {"uncovered": [[name, runs]...], "assumed_rates": [...]}; "" when neither.
  std::string notes;
  // A deterministic failure. No place is stored: it is found again through failureOp in the table
  // of the file at hand (equal fingerprints have equal tables).
  std::optional<FailureKind> failure;
  std::string failureMessage;
  int64_t failureOp = -1; // index of the distinct operation, -1 when none is to blame
  bool operator==(const ResultRow&) const = default;
};
ResultRow toRow(const EstimatorResult& result, int64_t failureOp);
EstimatorResult fromRow(const ResultRow& row);

// A file's table, kept so that an unchanged file is never parsed again.
struct FileEntry {
  Digest contentHash;
  std::string readerText;
  ModuleFacts facts;
  std::string table; // serialise(module), or empty when only the facts were asked for
  // A file that cannot be read is remembered as well, so that it fails again without being parsed.
  std::optional<Failure> failure; // `file` is empty: the place is in the file at hand
};

// The result cache. One owner thread; every call throws StorageError.
class ResultStore {
public:
  virtual ~ResultStore() = default;
  virtual void begin() = 0;  // opens the write transaction if none is open
  virtual void commit() = 0; // makes everything since begin() durable
  virtual std::vector<std::optional<ResultRow>> find(std::span<const Digest> keys) = 0;
  virtual void put(std::span<const ResultRow> rows) = 0;
  virtual std::optional<FileEntry> findFile(const Digest& contentHash,
                                            const std::string& readerText, bool withTable) = 0;
  virtual void putFile(const FileEntry& entry) = 0;
  // How results were made, for people: configuration digest -> estimator and canonical options.
  virtual void putConfiguration(const Digest& configuration, const std::string& estimator,
                                const std::string& options) = 0;
  // Metadata and statistics of a result as text, for who asks for more than numbers; a sweep never
  // does. "" when there are none.
  virtual std::string findDetails(const Digest& key) = 0;
  virtual void putDetails(const Digest& key, const std::string& text) = 0;
  // What went wrong since the last call and was got over, in sentences for people.
  virtual std::vector<std::string> takeWarnings() { return {}; }
};

enum class ItemStatus : uint8_t { NotRun, Ok, Failed };

// One row of a run: one module on one point.
struct ItemRecord {
  uint64_t point = 0;
  ItemStatus status = ItemStatus::NotRun;
  bool fromCache = false;
  ResultRow result;               // key, numbers and notes
  std::optional<Failure> failure; // with its place
  std::string events{};           // EventStream::text(JsonLines) of this estimate; mostly ""
};

// One shard: a module with up to kShardPoints points, committed as a whole.
struct ShardRecord {
  uint64_t module = 0, firstPoint = 0;
  std::optional<ModuleFacts> facts; // absent when the module could not be read
  std::vector<ItemRecord> items;
  std::string statistics; // StatisticsTree::serialise() of what this shard added; "" for nothing
  uint32_t attempts = 1;
};

// The record of one run. One owner thread; every call throws StorageError.
class RunRecord {
public:
  virtual ~RunRecord() = default;
  virtual void begin() = 0;
  virtual void commit() = 0;
  virtual void putShard(const ShardRecord& shard) = 0;
  // (module, firstPoint) of every shard that is already committed.
  virtual std::vector<std::pair<uint64_t, uint64_t>> doneShards() = 0;
  // What metadata hooks said of the run: a JSON object by estimator.
  virtual void putMetadata(const std::string& json) = 0;
  virtual void finish(const std::string& outcome) = 0; // "complete", "interrupted", "stopped: ..."
};

// What an estimator that is used as a library works with. Shared by all that are given it.
struct Services {
  std::shared_ptr<ModuleReader> reader; // null: no files can be read
  // Opens the result cache in a folder. Null: nothing outlives the process.
  std::function<std::shared_ptr<ResultStore>(const std::string& folder)> openCache;
  std::shared_ptr<KernelBuilder> kernels; // null: nothing can be measured
};

// Told about the run as it goes; called from one actor.
struct Progress {
  uint64_t itemsDone = 0, itemsTotal = 0, itemsFailed = 0, cacheHits = 0;
  double elapsed = 0; // seconds
};
class ProgressListener {
public:
  virtual ~ProgressListener() = default;
  virtual void onProgress(const Progress& progress) = 0;
  virtual void onWarning(const std::string& text) = 0;
};

} // namespace nocturne
