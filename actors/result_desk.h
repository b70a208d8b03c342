// What the cache actor does, without actors: it answers look-ups, gathers what workers put, and
// writes it to the run record and the result cache in few transactions.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/claim_table.h"
#include "actors/messages.h"
#include "actors/shard_plan.h"
#include "engine/json.h"
#include "engine/statistics.h"

namespace nocturne {

// Used by one thread, the owner of store and record.
class ResultDesk {
public:
  using Clock = ClaimTable::Clock;
  using Answers = std::vector<std::pair<WorkerId, Resolved>>;

  // `store` is null when the cache is disabled.
  ResultDesk(ResultStore* store, RunRecord& record, ClaimTable& claims, const ShardPlan& plan,
             std::string readerText);

  DoneShards open();
  FileReply files(const FileLookup& question);
  LookupReply lookup(const Lookup& question, Clock::time_point now);
  // Returns the answers to workers that waited for what was put.
  Answers put(Put put, Clock::time_point now);
  Answers workerGone(WorkerId worker, Clock::time_point now);
  Answers expire(Clock::duration deadline, Clock::time_point now);

  size_t waitingRows() const { return waitingItems_ + rows_.size(); }
  bool anythingWaits() const;
  // Commits the record first, the cache second: a kill in between costs a cached result, never an
  // item. Returns the shards that are safe now.
  std::vector<ShardTally> flush();
  // Why the record cannot be written; set once, after which shards are only given back.
  const std::string& recordError() const { return recordError_; }
  std::vector<ShardTally> takeDropped() { return std::exchange(dropped_, {}); }
  // Warnings since the last call: of the cache, or of giving it up.
  std::vector<std::string> takeWarnings();
  // Writes the outcome, and metadata unless they are null; the text of what went wrong, or "".
  std::string finish(const std::string& outcome, const Json& metadata = Json());

private:
  struct Pieces { // of one chunk that is done in pieces
    ShardRecord record;
    StatisticsTree statistics;
  };

  std::vector<std::optional<ResultRow>> findInStore(const std::vector<Digest>& keys);
  void addShard(ShardDone shard);
  void addPiece(ShardDone piece);
  bool commitRecord();
  void commitCache();
  void breakCache(const StorageError& error);
  static Answers grouped(const std::vector<ClaimTable::Passed>& passed);

  ResultStore* store_; // null: disabled, or broken
  RunRecord& record_;
  ClaimTable& claims_;
  const ShardPlan& plan_;
  const std::string readerText_;

  // Put, not committed.
  std::vector<ResultRow> rows_;
  std::vector<FileEntry> files_;
  std::vector<ConfigurationText> configurations_;
  std::vector<ShardRecord> records_;
  std::vector<ShardTally> tallies_;
  size_t waitingItems_ = 0;
  std::map<std::pair<uint64_t, uint32_t>, Pieces> pieces_; // by module and chunk

  std::string recordError_;
  std::vector<ShardTally> dropped_;
  std::vector<std::string> warnings_;
};

} // namespace nocturne
