// One estimate: everything that an estimator may throw becomes a value here.
#pragma once

#include <memory>
#include <optional>

#include "actors/work_context.h"
#include "engine/statistics.h"
#include "estimators/estimator_base.h"

namespace nocturne {

struct ItemOutcome {
  ResultRow row; // without key, configuration and fingerprint
  // What was thrown, with its own place if it had one.
  std::optional<Failure> thrown;
  // The same input gives it again: it may be kept. See isDeterministic().
  bool repeatable = true;
};

// Makes an estimator and runs it on a module. Its statistics are added to `statistics` unless it
// fails. `previous` is the instance of the last estimate of the same thread, or nothing; what it
// found out about the module is taken over, and the new instance takes its place.
ItemOutcome estimateItem(const WorkContext& context, const EstimatorDescription& estimator,
                         const Json& options, const Digest& key, const Module& module,
                         StatisticsTree& statistics, std::unique_ptr<Estimator>& previous);
// The outcome of an item whose module has no table.
ItemOutcome failedItem(Failure failure, int64_t op = -1);

// What a hit adds to statistics. `module` is needed only by estimators whose hooks see hits.
void addHitStatistics(const WorkContext& context, const EstimatorDescription& estimator,
                      const Json* options, const Module* module, const ResultRow& row,
                      StatisticsTree& statistics);

} // namespace nocturne
