// The bookkeeping of a batch: what is to be done next, what waits for what, what became of each. No
// threads, no files: whoever has workers of any kind asks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "compiler/drivers/build_options.h"
#include "engine/digest.h"

namespace nocturne::compiler {

struct BatchItem {
  Digest key;
  std::string outputDir;
  uint64_t weight = 1;   // share of the batch's capacity while it is built: bytes of memory, say
  std::string name = {}; // as the places of failures have it
};

// Each job that next() hands out comes back by exactly one of done() and lost(). Items with one key
// are built once: those in the same folder take the result, those in other folders are jobs of
// their own that copy it. Not thread-safe.
class BatchLedger {
public:
  enum class Work : uint8_t { Build, Copy };
  struct Job {
    size_t index = 0; // of the item
    Work work = Work::Build;
    size_t source = 0; // the item whose outcome is copied
  };

  // `capacity` bounds the sum of the weights of the jobs under way; 0 is no bound. An item that is
  // heavier than all of it runs alone.
  explicit BatchLedger(std::vector<BatchItem> items, uint64_t capacity = 0);

  // Items in their order, as far as the capacity goes. Nothing when a job that is under way has to
  // come back first, or when all is done.
  std::optional<Job> next();
  void done(const Job& job, BuildReport report);
  // Its worker died. The job is handed out again; at the second death the item has failed
  // (crashed).
  void lost(const Job& job);
  // Nothing more is handed out; what was not begun is cancelled.
  void cancel();

  bool finished() const { return finished_ == items_.size(); }
  size_t size() const { return items_.size(); }
  size_t count(BuildState state) const { return counts_[static_cast<size_t>(state)]; }
  size_t finishedCount() const { return finished_; }
  // One per item, in their order. Those of unfinished items are cancelled.
  const std::vector<BuildReport>& reports() const { return reports_; }
  std::vector<BuildReport> takeReports() { return std::move(reports_); }

private:
  void settle(size_t index, BuildReport report);
  void settleFollowers(size_t leader);
  uint64_t weightOf(const Job& job) const;

  std::vector<BatchItem> items_;
  std::vector<BuildReport> reports_;
  std::vector<std::vector<size_t>> followers_; // of a leader: later items with its key
  std::vector<uint8_t> deaths_;
  std::deque<Job> ready_;
  uint64_t capacity_, underWay_ = 0;
  size_t jobsUnderWay_ = 0, finished_ = 0;
  size_t counts_[4] = {};
  bool cancelled_ = false;
};

} // namespace nocturne::compiler
