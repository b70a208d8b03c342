// The reading side of run.sqlite: everything that reports are made of.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "engine/services.h"
#include "engine/sweep_plan.h"
#include "storage/database.h"

namespace nocturne {

struct RunFacts {
  SweepPlan plan; // modules included
  Digest planDigest;
  uint64_t moduleCount = 0, pointCount = 0;
  std::string started, finished; // UTC, ISO 8601; `finished` is "" while the run goes on or died
  std::string outcome;           // "", "complete", "interrupted", "stopped: ..."
  std::string nocturneVersion;
  std::string provenance;
  std::string metadata; // RunRecord::putMetadata; "" when there is none
};

// A module of the run; `facts` are absent while it was not read or when it could not be.
struct RunModule {
  uint64_t index = 0;
  std::string name, path;
  std::optional<ModuleFacts> facts;
};

struct RunCounts {
  uint64_t ok = 0, failed = 0, notRun = 0, cacheHits = 0;
};

struct RunShard {
  uint64_t module = 0, firstPoint = 0;
  uint32_t attempts = 1;
  std::string statistics;
};

// Streams: memory does not grow with the number of items. Works on a finished record, on that of a
// dead run and, from another process, on one that is being written; each call sees one state. One
// thread at a time; every call throws StorageError.
class RunReader {
public:
  // The record in an output directory, or a run.sqlite file itself. Missing when there is none.
  explicit RunReader(const std::string& outputDirOrFile);

  const RunFacts& facts() const { return facts_; }
  RunCounts counts();
  void forEachModule(const std::function<void(const RunModule&)>& callback);

  // Every item of the plan in report order: module, then point. One that has no row comes with
  // status NotRun. The configuration of the result stays empty.
  using ItemCallback = std::function<void(const RunModule&, const ItemRecord&)>;
  void forEachItem(const ItemCallback& callback);
  // By module, then first point.
  void forEachShard(const std::function<void(const RunShard&)>& callback);
  // The items that have events, in report order.
  using EventsCallback =
      std::function<void(uint64_t module, uint64_t point, const std::string& lines)>;
  void forEachEvents(const EventsCallback& callback);

private:
  void readFacts();
  void itemsOf(Statement& items, const RunModule& module, const ItemCallback& callback);
  Database database_;
  size_t version_ = 0; // of the schema
  RunFacts facts_;
};

} // namespace nocturne
