// What is to be built next, and what becomes of the modules that kill whoever builds them. No
// processes, no actors: the supervisor of builds asks it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "compiler/drivers/batch_ledger.h"

namespace nocturne {

// A ledger whose workers may die. A module that was with a worker that died is built once more,
// when all others are done and by a worker that has built nothing before: whatever happens then is
// its own doing. Each job that next() hands out comes back by exactly one of done(), died() and
// timedOut(). Not thread-safe.
class BuildQueue {
public:
  using Job = compiler::BatchLedger::Job;

  // `capacity` as a BatchLedger has it.
  explicit BuildQueue(std::vector<compiler::BatchItem> items, uint64_t capacity = 0);

  // Nothing when this worker has to wait: for jobs that are under way, or until it is replaced.
  std::optional<Job> next(bool freshWorker);
  // A job waits for a worker that has built nothing before.
  bool wantsFreshWorker() const;

  void done(const Job& job, compiler::BuildReport report);
  // `reason` is how the worker ended.
  void died(const Job& job, const std::string& reason);
  // Its worker was killed because it took longer than `deadline`.
  void timedOut(const Job& job, std::chrono::milliseconds deadline);
  // Nothing more is handed out. Jobs that die from here on are cancelled, not tried again.
  void cancel();

  bool finished() const { return ledger_.finished(); }
  size_t underWay() const { return underWay_; }
  const compiler::BatchLedger& ledger() const { return ledger_; }
  std::vector<compiler::BuildReport> takeReports() { return ledger_.takeReports(); }

private:
  void fail(const Job& job, FailureKind kind, std::string message);

  compiler::BatchLedger ledger_;
  std::vector<bool> hasKilled_; // by item
  std::deque<Job> suspects_;
  size_t underWay_ = 0;
  bool alone_ = false; // a suspect is being built
  bool cancelled_ = false;
};

} // namespace nocturne
