// A world for the actors that needs neither MLIR nor SQLite: files of a few words, a reader for
// them, stores in memory that can be told to fail, and estimators that count.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "actors/run_sweep.h"
#include "engine/services.h"
#include "engine/statistics.h"
#include "estimators/estimator.h"
#include "tests/support/scratch_dir.h"

namespace nocturne::test {

// A file is a line of operations, "add" for test.add, and anything below it: the line alone makes
// the fingerprint.
// A file that begins with "broken" is unreadable at 2:3. Operation n stands in line 10 + n.
class FakeReader final : public ModuleReader {
public:
  ModulePtr read(const std::string& path) override;
  std::string keyText() const override { return "fake reader"; }
  std::atomic<int> reads{0};
};

// What happened at the stores, in order: "record commit 3", "cache commit 2".
struct StoreLog {
  std::mutex mutex;
  std::vector<std::string> lines;
  void add(std::string line);
  std::vector<std::string> all();
};

class FakeStore final : public ResultStore {
public:
  explicit FakeStore(StoreLog* log = nullptr) : log_(log) {}
  void begin() override;
  void commit() override;
  std::vector<std::optional<ResultRow>> find(std::span<const Digest> keys) override;
  void put(std::span<const ResultRow> rows) override;
  std::optional<FileEntry> findFile(const Digest& contentHash, const std::string& readerText,
                                    bool withTable) override;
  void putFile(const FileEntry& entry) override;
  void putConfiguration(const Digest& configuration, const std::string& estimator,
                        const std::string& options) override;
  std::string findDetails(const Digest&) override { return {}; }
  void putDetails(const Digest&, const std::string&) override {}

  bool broken = false; // every call throws
  int tablesGiven = 0;
  struct ByKey {
    size_t operator()(const Digest& key) const {
      return std::hash<Digest>()(hashBytes(key.view()));
    }
  };
  std::unordered_map<Digest, ResultRow, ByKey> rows;
  std::map<Digest, FileEntry> files;
  std::map<Digest, std::string> configurations;

private:
  void check() const;
  StoreLog* log_;
  size_t putRows_ = 0;
};

class FakeRecord final : public RunRecord {
public:
  explicit FakeRecord(StoreLog* log = nullptr) : log_(log) {}
  void begin() override { pending_.clear(); }
  void commit() override;
  void putShard(const ShardRecord& shard) override;
  std::vector<std::pair<uint64_t, uint64_t>> doneShards() override;
  void putMetadata(const std::string& json) override { metadata = json; }
  void finish(const std::string& text) override;

  // The disk is full when this many shards are committed.
  size_t capacity = SIZE_MAX;
  bool keepItems = true; // false: counts only
  std::function<void(size_t shards)> onCommit;
  std::map<std::pair<uint64_t, uint64_t>, ShardRecord> shards;
  size_t repeatedShards = 0;
  std::string outcome, metadata;

  size_t itemCount() const;
  // All items and numbers as text, but for what may depend on timing.
  std::string text() const;
  StatisticsTree mergedStatistics() const;

private:
  StoreLog* log_;
  std::vector<ShardRecord> pending_;
};

// 1 / rate seconds for each operation. "bad" operations are refused, "bug" ones throw something
// else. Counts estimates in `estimates`, and waits in them while `gate` is closed.
class TinyEstimator : public virtual ComputeEstimator {
public:
  static void describe(EstimatorClass<TinyEstimator>& c);
  static std::atomic<int> estimates;

private:
  OpResult add(const OpInfo& op);
  OpResult refuse(const OpInfo& op);
  OpResult fail(const OpInfo& op);
  void count(const Module& module);
  double rate_ = 1;
};

// May run in one actor only; remembers in which threads it ran, and the order of its modules.
class LonelyEstimator : public virtual ComputeEstimator {
public:
  static void describe(EstimatorClass<LonelyEstimator>& c);
  static std::mutex mutex;
  static std::set<std::thread::id> threads;
  static std::vector<std::string> modules;

private:
  OpResult add(const OpInfo& op);
  void look(const Module& module);
};

// Wants to see the module of every hit.
class CuriousEstimator : public virtual ComputeEstimator {
public:
  static void describe(EstimatorClass<CuriousEstimator>& c);
  static std::atomic<int> hits;

private:
  OpResult add(const OpInfo& op);
  void look(const Module& module, const std::string& key);
};

// Tells events and keeps state of its own; sees hits.
class TalkingEstimator : public virtual ComputeEstimator {
public:
  static void describe(EstimatorClass<TalkingEstimator>& c);

private:
  OpResult add(const OpInfo& op);
  void begin(const Module& module);
  void end(const Module& module, const ModuleResult& result);
  void hit(const Module& module, const std::string& key);
  Json metadata();
  void mergeSeen(const TalkingEstimator& other);
  double rate_ = 1;
  uint64_t runs_ = 0, hits_ = 0;
  std::set<std::string> modules_;
};

void addTestEstimators(EstimatorRegistry& registry);

// A door that estimates wait at.
class Gate {
public:
  void open();
  void close();
  void pass(); // waits while it is closed
  void waitForVisitors(int count);

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int visitors_ = 0;
};
Gate& estimateGate(); // of TinyEstimator

// A plan of these files and of `points` rates for the tiny estimator on one machine.
SweepPlan tinyPlan(const std::vector<std::string>& files, int points);
EstimatorEntry tinyEntry(int points);

struct World {
  World() { addTestEstimators(registry); }
  SweepServices services() { return {reader, registry, store, record, nullptr}; }
  SweepOutcome run(const SweepPlan& plan, SweepControl control) {
    return runSweep(plan, services(), control);
  }
  ScratchDir folder;
  FakeReader reader;
  EstimatorRegistry registry;
  StoreLog log;
  FakeStore store{&log};
  FakeRecord record{&log};
};

} // namespace nocturne::test
