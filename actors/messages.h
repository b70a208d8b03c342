// Every message between the actors: plain values that can be serialised, so that they may cross the
// border of a process. What lives only inside one process (module tables, the plan) is never in
// one.
//
//   supervisor ── Batch ────────────────► estimator actor     (WorkerIdle asks for it)
//   estimator  ── FileLookup, Lookup ───► cache actor         (FileReply, LookupReply)
//   estimator  ── Put ──────────────────► cache actor
//   cache      ── Resolved ─────────────► estimator actor     (for keys that were pending)
//   cache      ── Committed ────────────► supervisor          (only after both files committed)
//   supervisor ── OpenRecord, Finish ───► cache actor
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <caf/fwd.hpp>

#include "actors/inspect_values.h"
#include "actors/work.h"

namespace nocturne {

// Starts the run; answered by RunReport when it is over.
struct RunRequest {};
struct RunReport {
  uint8_t kind = 0; // SweepOutcome::Kind
  std::string message;
  uint64_t ok = 0, failed = 0, notRun = 0, earlier = 0, hits = 0, computed = 0;
};

// From the file reader: files in plan order.
struct FilesReady {
  std::vector<FileInfo> files;
  bool last = false; // nothing will follow
};

// A worker has room for a batch. `seconds` and `weight` (see ShardQueue) measure what it did since
// it last asked.
struct WorkerIdle {
  WorkerId worker = 0;
  double seconds = 0, weight = 0;
};
struct Batch {
  std::vector<Shard> shards;
};
// Shards that are given back undone, because the run is stopping.
struct ShardsReturned {
  WorkerId worker = 0;
  std::vector<ShardTally> shards;
};

struct StopRequest {};
struct GraceOver {};

// What is known of files, by content. Entries come in the order of the question.
struct FileLookup {
  std::vector<Digest> contentHashes;
  bool withTables = false;
};
struct FileReply {
  std::vector<FileEntry> entries;
  std::vector<uint8_t> found; // 1 where the entry is one
};

// Distinct keys; every one is answered in one of the three lists, by its place in `keys`.
struct Lookup {
  WorkerId worker = 0;
  std::vector<Digest> keys;
};
struct LookupReply {
  std::vector<std::pair<uint32_t, ResultRow>> hits;
  std::vector<uint32_t> yours;   // claimed for the asker, who will Put a row or release the key
  std::vector<uint32_t> pending; // a Resolved will follow
};

// Answers to keys that were pending: the row, or the claim.
struct Resolution {
  Digest key;
  bool yours = false;
  ResultRow row; // unless yours
};
struct Resolved {
  std::vector<Resolution> keys;
};

// How results of a configuration were made, for people.
struct ConfigurationText {
  Digest configuration;
  std::string estimator, options;
};

struct ShardDone {
  ShardRecord record;
  ShardTally tally;
};

// Everything a worker has to say at once. Rows answer claims; released keys were claimed but have
// no result that may be kept.
struct Put {
  WorkerId worker = 0;
  std::vector<ResultRow> rows;
  std::vector<Digest> released;
  std::vector<FileEntry> files;
  std::vector<ConfigurationText> configurations;
  std::vector<ShardDone> shards;
  bool urgent = false; // the worker has nothing else to do: commit without waiting for more

  bool isEmpty() const {
    return rows.empty() && released.empty() && files.empty() && configurations.empty() &&
           shards.empty();
  }
};
struct Committed {
  std::vector<ShardTally> shards;
};

// The cache actor to itself.
struct FlushTick {};
struct ClaimTick {};

// The first request of a run; answered by what the record holds, or why it cannot be read.
struct OpenRecord {};
struct DoneShards {
  std::string error;
  std::vector<std::pair<uint64_t, uint64_t>> shards; // module, first point
};
// A worker is dead: its claims pass on. Answered after everything it had put is committed.
struct WorkerGone {
  WorkerId worker = 0;
};
struct WorkerCleared {
  WorkerId worker = 0;
};
// The run record cannot be written any more.
struct RecordFailed {
  std::string message;
};
// The last request of a run: commits and writes the outcome. `ok` is false when that failed.
struct Finish {
  std::string outcome;
};
struct Finished {
  bool ok = true;
  std::string message;
};

// To the progress actor.
struct ProgressCounts {
  uint64_t itemsDone = 0, itemsTotal = 0, itemsFailed = 0, cacheHits = 0;
};
struct ProgressTick {};
struct Warning {
  std::string text;
};

// Makes the messages known to an actor system, which only connections to other processes need.
void addMessageTypes(caf::actor_system_config& config);

// CAF finds the fields of a message through these.
#define NOCTURNE_MESSAGE(Type, ...)                                                                \
  template <typename Inspector>                                                                    \
  typename Inspector::result_type inspect(Inspector& f, [[maybe_unused]] Type& x) {                \
    return f(caf::meta::type_name(#Type) __VA_OPT__(, ) __VA_ARGS__);                              \
  }

NOCTURNE_MESSAGE(FileInfo, x.module, x.bytes, x.contentHash, x.error)
NOCTURNE_MESSAGE(Shard, x.file, x.firstPoint, x.points, x.chunk, x.deaths)
NOCTURNE_MESSAGE(ShardTally, x.module, x.firstPoint, x.points, x.chunk, x.ok, x.failed, x.hits,
                 x.computed)
NOCTURNE_MESSAGE(RunRequest)
NOCTURNE_MESSAGE(RunReport, x.kind, x.message, x.ok, x.failed, x.notRun, x.earlier, x.hits,
                 x.computed)
NOCTURNE_MESSAGE(FilesReady, x.files, x.last)
NOCTURNE_MESSAGE(WorkerIdle, x.worker, x.seconds, x.weight)
NOCTURNE_MESSAGE(Batch, x.shards)
NOCTURNE_MESSAGE(ShardsReturned, x.worker, x.shards)
NOCTURNE_MESSAGE(StopRequest)
NOCTURNE_MESSAGE(GraceOver)
NOCTURNE_MESSAGE(FileLookup, x.contentHashes, x.withTables)
NOCTURNE_MESSAGE(FileReply, x.entries, x.found)
NOCTURNE_MESSAGE(Lookup, x.worker, x.keys)
NOCTURNE_MESSAGE(LookupReply, x.hits, x.yours, x.pending)
NOCTURNE_MESSAGE(Resolution, x.key, x.yours, x.row)
NOCTURNE_MESSAGE(Resolved, x.keys)
NOCTURNE_MESSAGE(ConfigurationText, x.configuration, x.estimator, x.options)
NOCTURNE_MESSAGE(ShardDone, x.record, x.tally)
NOCTURNE_MESSAGE(Put, x.worker, x.rows, x.released, x.files, x.configurations, x.shards, x.urgent)
NOCTURNE_MESSAGE(Committed, x.shards)
NOCTURNE_MESSAGE(FlushTick)
NOCTURNE_MESSAGE(ClaimTick)
NOCTURNE_MESSAGE(OpenRecord)
NOCTURNE_MESSAGE(DoneShards, x.error, x.shards)
NOCTURNE_MESSAGE(WorkerGone, x.worker)
NOCTURNE_MESSAGE(WorkerCleared, x.worker)
NOCTURNE_MESSAGE(RecordFailed, x.message)
NOCTURNE_MESSAGE(Finish, x.outcome)
NOCTURNE_MESSAGE(Finished, x.ok, x.message)
NOCTURNE_MESSAGE(ProgressCounts, x.itemsDone, x.itemsTotal, x.itemsFailed, x.cacheHits)
NOCTURNE_MESSAGE(ProgressTick)
NOCTURNE_MESSAGE(Warning, x.text)

#undef NOCTURNE_MESSAGE

} // namespace nocturne
