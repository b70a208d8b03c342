#include "actors/build_queue.h"

#include <cstdio>
#include <utility>

namespace nocturne {

using compiler::BuildReport;

BuildQueue::BuildQueue(std::vector<compiler::BatchItem> items, uint64_t capacity)
    : ledger_(std::move(items), capacity), hasKilled_(ledger_.size()) {}

std::optional<BuildQueue::Job> BuildQueue::next(bool freshWorker) {
  if (alone_)
    return std::nullopt;
  std::optional<Job> job = ledger_.next();
  if (!job && freshWorker && wantsFreshWorker()) {
    job = suspects_.front();
    suspects_.pop_front();
    alone_ = true;
  }
  underWay_ += job ? 1 : 0;
  return job;
}

bool BuildQueue::wantsFreshWorker() const {
  return !suspects_.empty() && underWay_ == 0;
}

void BuildQueue::done(const Job& job, BuildReport report) {
  --underWay_;
  alone_ = false;
  ledger_.done(job, std::move(report));
}

void BuildQueue::fail(const Job& job, FailureKind kind, std::string message) {
  done(job, compiler::failedReport({kind, std::move(message), "", 0, 0}));
}

void BuildQueue::died(const Job& job, const std::string& reason) {
  if (cancelled_) {
    --underWay_;
    alone_ = false;
    ledger_.lost(job); // a cancelled ledger cancels it
  } else if (hasKilled_[job.index]) {
    fail(job, FailureKind::Crashed, "the process that built it died twice: " + reason);
  } else {
    --underWay_;
    hasKilled_[job.index] = true;
    suspects_.push_back(job);
  }
}

void BuildQueue::timedOut(const Job& job, std::chrono::milliseconds deadline) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", static_cast<double>(deadline.count()) / 1000);
  fail(job, FailureKind::TimedOut, std::string("not built within ") + seconds + " s");
}

void BuildQueue::cancel() {
  cancelled_ = true;
  for (const Job& job : std::exchange(suspects_, {}))
    ledger_.lost(job);
  ledger_.cancel();
}

} // namespace nocturne
