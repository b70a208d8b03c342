#include "compiler/drivers/batch_ledger.h"

#include <unordered_map>
#include <utility>

namespace nocturne::compiler {

namespace {

constexpr uint8_t kMostDeaths = 2;

BuildReport cancelledReport() {
  BuildReport report;
  report.failure = Failure{FailureKind::TimedOut, "the batch was stopped", "", 0, 0};
  return report;
}

// What the leader built is there for who asks for the same, and what it suffered from is at the
// same place of another file.
BuildReport reused(const BuildReport& leader, const std::string& leadersName,
                   const std::string& name) {
  BuildReport report = leader;
  if (report.failure && report.failure->file == leadersName)
    report.failure->file = name;
  if (report.succeeded())
    report.state = BuildState::Reused;
  report.outcome.built = false;
  report.outcome.log.clear();
  report.outcome.seconds = report.seconds = 0;
  return report;
}

} // namespace

BatchLedger::BatchLedger(std::vector<BatchItem> items, uint64_t capacity)
    : items_(std::move(items)), reports_(items_.size(), cancelledReport()),
      followers_(items_.size()), deaths_(items_.size()), capacity_(capacity) {
  std::unordered_map<Digest, size_t> leaders;
  for (size_t i = 0; i < items_.size(); ++i) {
    const auto [leader, isFirst] = leaders.try_emplace(items_[i].key, i);
    if (isFirst)
      ready_.push_back({i, Work::Build, i});
    else
      followers_[leader->second].push_back(i);
  }
}

uint64_t BatchLedger::weightOf(const Job& job) const {
  return job.work == Work::Build ? items_[job.index].weight : 0;
}

std::optional<BatchLedger::Job> BatchLedger::next() {
  if (ready_.empty())
    return std::nullopt;
  const Job job = ready_.front();
  // The heaviest does not starve, because nobody passes it.
  const bool fits = capacity_ == 0 || underWay_ + weightOf(job) <= capacity_;
  if (!fits && jobsUnderWay_ > 0)
    return std::nullopt;
  ready_.pop_front();
  underWay_ += weightOf(job);
  ++jobsUnderWay_;
  return job;
}

void BatchLedger::settle(size_t index, BuildReport report) {
  ++counts_[static_cast<size_t>(report.state)];
  ++finished_;
  reports_[index] = std::move(report);
}

void BatchLedger::done(const Job& job, BuildReport report) {
  underWay_ -= weightOf(job);
  --jobsUnderWay_;
  settle(job.index, std::move(report));
  if (job.work == Work::Build)
    settleFollowers(job.index);
}

void BatchLedger::settleFollowers(size_t leader) {
  const std::vector<size_t> followers = std::exchange(followers_[leader], {});
  const BuildReport& report = reports_[leader];
  // A module that is bad is bad in every folder; a full disk is not.
  const bool sameEverywhere =
      report.succeeded() || cancelled_ || (report.failure && isDeterministic(report.failure->kind));
  std::optional<size_t> nextLeader;
  for (const size_t index : followers) {
    const bool sameFolder = items_[index].outputDir == items_[leader].outputDir;
    if (cancelled_ && !sameFolder)
      settle(index, cancelledReport());
    else if (sameFolder || (sameEverywhere && !report.succeeded()))
      settle(index, reused(report, items_[leader].name, items_[index].name));
    else if (report.succeeded())
      ready_.push_back({index, Work::Copy, leader});
    else if (!nextLeader)
      ready_.push_back({*(nextLeader = index), Work::Build, index});
    else
      followers_[*nextLeader].push_back(index);
  }
}

void BatchLedger::lost(const Job& job) {
  if (++deaths_[job.index] >= kMostDeaths) {
    done(job, failedReport({FailureKind::Crashed, "its worker died twice", "", 0, 0}));
    return;
  }
  if (cancelled_) {
    done(job, cancelledReport());
    return;
  }
  underWay_ -= weightOf(job);
  --jobsUnderWay_;
  ready_.push_front(job);
}

void BatchLedger::cancel() {
  cancelled_ = true;
  for (const Job& job : std::exchange(ready_, {})) {
    settle(job.index, cancelledReport());
    if (job.work == Work::Build)
      settleFollowers(job.index);
  }
}

} // namespace nocturne::compiler
