// Which shard goes to whom, and which are done: the decisions of the supervisor, without actors.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/shard_plan.h"
#include "actors/work.h"

namespace nocturne {

// Sums over committed shards, without those of which only a piece is.
struct RunTally {
  uint64_t items = 0, ok = 0, failed = 0, hits = 0, computed = 0;
  void add(const ShardTally& shard);
};

//            arrived()            take()               committed()
//  (unread) ──────────► waiting ─────────► in flight ───────────────► done
//                          ▲                  │ lost()
//                          └── to run alone ◄─┤ first death, or a half of a shard that killed twice
//                                             └─► condemned: one item that killed twice
//
// Shards of the modules in a window go out largest file first; shards of confined estimators in
// plan order, to one worker. Memory grows with the window, the workers and one bit for each shard.
class ShardQueue {
public:
  struct Limits {
    uint64_t window = 256; // modules ahead of the first that is not handed out
    size_t batchShards = 64;
    uint64_t batchPoints = 4096;
    double batchSeconds = 0.004;
    size_t workerShards = 512; // handed out to one worker and not yet committed
    uint64_t workerPoints = 16384;
  };
  // The plan has to outlive the queue.
  ShardQueue(const ShardPlan& plan, uint64_t modules, Limits limits);

  // Before the first file: shards that an earlier run has committed. Returns how many items.
  uint64_t skip(const std::vector<std::pair<uint64_t, uint64_t>>& done);
  // For each module whether any of its shards is left.
  std::vector<bool> wantedModules() const;

  // Files come in plan order, unwanted ones left out.
  void arrived(FileInfo file);
  void allArrived() { allArrived_ = true; }
  // Files below this module index may be read already.
  uint64_t readLimit() const;

  // Shards for a worker, none when it has to wait. `mayConfined` for the one worker that runs
  // confined estimators; `workers` only sizes batches.
  std::vector<Shard> take(WorkerId worker, bool mayConfined, size_t workers);
  bool isIdle(WorkerId worker) const; // nothing of it is in flight
  // Tells what work costs, to size batches.
  void measured(double seconds, double weight);
  static double weightOf(const Shard& shard);

  void committed(const ShardTally& shard);
  // Given back undone. It is not handed out again: the run is stopping.
  void returned(const ShardTally& shard);
  // The worker died. What it had is queued again, except single items that were there at two
  // deaths: those are returned, stay in flight, and have to be committed as failures.
  std::vector<Shard> lost(WorkerId worker);

  bool finished() const; // nothing left to read, to hand out or in flight
  bool nothingInFlight() const { return inFlight_.empty(); }
  bool nothingToHandOut() const;
  const RunTally& tally() const { return tally_; }
  uint64_t itemsWanted() const { return itemsWanted_; }

private:
  using Place = std::pair<uint64_t, uint64_t>; // module, first point
  struct OpenModule {
    FileInfo file;
    size_t nextFree = 0, nextConfined = 0; // places in free_ and confined_
  };
  struct Load {
    size_t shards = 0, suspects = 0;
    uint64_t points = 0;
  };
  struct InFlight {
    Shard shard;
    WorkerId worker;
  };

  bool isDone(uint64_t module, size_t chunk) const;
  void toNextOpen(const OpenModule& module, const std::vector<uint32_t>& chunks,
                  size_t& next) const;
  size_t freeWaiting() const;
  std::deque<Shard>::iterator suspectFor(bool mayConfined);
  void takeConfined(std::vector<Shard>& batch, double& weight, size_t maxShards);
  void takeFree(std::vector<Shard>& batch, double& weight, size_t maxShards);
  bool fits(const std::vector<Shard>& batch, double weight, const Shard& next,
            size_t maxShards) const;
  Shard makeShard(const OpenModule& module, uint32_t chunk) const;
  void closeIfHandedOut(uint64_t module);
  void start(WorkerId worker, const std::vector<Shard>& batch);
  InFlight remove(const ShardTally& shard, bool& known);
  void split(const Shard& shard);

  const ShardPlan& plan_;
  const uint64_t modules_;
  const Limits limits_;
  std::vector<uint32_t> free_, confined_; // chunk indices
  std::vector<bool> done_;                // module * chunks + chunk
  uint64_t itemsWanted_ = 0;

  std::map<uint64_t, OpenModule> open_;            // not completely handed out
  std::set<std::pair<uint64_t, uint64_t>> bySize_; // (~bytes, module) with free chunks left
  std::set<uint64_t> confinedOpen_;                // with confined chunks left
  uint64_t nextModule_ = 0;                        // beyond the last that arrived
  bool allArrived_ = false;
  std::deque<Shard> suspects_;

  std::map<Place, InFlight> inFlight_;
  std::unordered_map<WorkerId, Load> loads_;
  std::map<std::pair<uint64_t, uint32_t>, std::pair<uint32_t, RunTally>> pieces_; // points so far
  RunTally tally_;
  double secondsPerWeight_ = 0; // 0: not known
};

} // namespace nocturne
