#include "tools/report/summary.h"

#include <algorithm>

namespace nocturne::tools {

void Tally::add(const ItemRecord& item, FitsMemory fit) {
  ++(fit == FitsMemory::Yes ? fits : fit == FitsMemory::No ? doesNotFit : fitUnknown);
  if (item.status == ItemStatus::NotRun) {
    ++notRun;
    return;
  }
  if (item.status == ItemStatus::Failed) {
    ++failed;
    ++failures[item.failure ? item.failure->kind : FailureKind::Internal];
    return;
  }
  ++ok;
  runtime.add(item.result.runtime.value_or(0));
  flops.add(item.result.flops);
  bytes.add(item.result.bytes);
  const double covered = coverageOf(item.result);
  coverage.add(covered);
  coverageMin = std::min(coverageMin, covered);
}

double Tally::coverageMean() const {
  return ok == 0 ? 1.0 : coverage.value() / static_cast<double>(ok);
}

SummaryBuilder::SummaryBuilder(const SweepPlan& plan) : plan_(plan) {
  const uint64_t count = plan.pointCount();
  const uint64_t kept = std::min(count, kMaxPoints);
  summary_.points.reserve(kept);
  for (uint64_t i = 0; i < kept; ++i) {
    Point point = plan.pointNames(i);
    PointSummary& entry = summary_.points.emplace_back();
    entry.estimator = std::move(point.estimator);
    entry.hardware = std::move(point.hardware);
    entry.axes = std::move(point.axes);
    entry.memoryCapacity = point.memoryCapacity;
  }
  summary_.pointsOmitted = count - kept;
}

void SummaryBuilder::add(const RunModule& module, const ItemRecord& item, const Notes& notes,
                         double memoryCapacity) {
  const FitsMemory fit = fitsMemory(module.facts ? &*module.facts : nullptr, memoryCapacity);
  summary_.total.add(item, fit);
  if (item.status == ItemStatus::Failed)
    addFailure(module, item);
  if (!notes.uncovered.empty())
    addUncovered(module.index, notes);
  if (item.point >= summary_.points.size())
    return;
  PointSummary& point = summary_.points[item.point];
  point.tally.add(item, fit);
  if (item.status != ItemStatus::Ok || !item.result.runtime)
    return;
  const double runtime = *item.result.runtime;
  if (!point.fastest || runtime < point.fastest->runtime)
    point.fastest = {module.name, runtime};
  if (!point.slowest || runtime > point.slowest->runtime)
    point.slowest = {module.name, runtime};
}

void SummaryBuilder::addUncovered(uint64_t module, const Notes& notes) {
  for (const Uncovered& operation : notes.uncovered) {
    Seen& seen = uncovered_[operation.name];
    ++seen.results;
    if (seen.lastModule != module)
      ++seen.modules;
    seen.lastModule = module;
  }
}

void SummaryBuilder::addFailure(const RunModule& module, const ItemRecord& item) {
  auto& list = summary_.firstFailures;
  if (list.size() >= kMaxFailures || !item.failure)
    return;
  const bool known = std::any_of(list.begin(), list.end(), [&](const FailedItem& other) {
    return other.module == module.name && other.failure == *item.failure;
  });
  if (known)
    return;
  const Point point = plan_.pointNames(item.point);
  list.push_back({module.name, point.estimator, point.hardware, *item.failure});
}

Summary SummaryBuilder::finish() {
  for (const auto& [name, seen] : uncovered_) {
    if (summary_.uncovered.size() < kMaxUncovered)
      summary_.uncovered.push_back({name, seen.modules, seen.results});
    else
      ++summary_.uncoveredOmitted;
  }
  uncovered_.clear();
  return std::move(summary_);
}

} // namespace nocturne::tools
