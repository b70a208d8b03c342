// One estimate: everything that an estimator may throw becomes a value here.
#pragma once

#include <memory>
#include <optional>

#include "actors/shard_harvest.h"
#include "actors/work_context.h"

namespace nocturne {

struct ItemOutcome {
  ResultRow row; // without key, configuration and fingerprint
  // What was thrown, with its own place if it had one.
  std::optional<Failure> thrown;
  // The same input gives it again: it may be kept. See isDeterministic().
  bool repeatable = true;
  std::string events; // as ItemRecord::events
};

// Makes an estimator and runs it on a module; `planIndex` is the item's place in the plan. What it
// gathered goes to `harvest` unless it fails. `previous` is the instance of the last estimate of
// the same thread, or nothing; what it found out about the module is taken over, and the new
// instance takes its place.
ItemOutcome estimateItem(const WorkContext& context, const EstimatorDescription& estimator,
                         const Json& options, const Digest& key, const Module& module,
                         uint64_t planIndex, ShardHarvest& harvest,
                         std::shared_ptr<Estimator>& previous);
// The outcome of an item whose module has no table.
ItemOutcome failedItem(Failure failure, int64_t op = -1);

// What a hit adds; returns its events. `module` is needed only by estimators whose hooks see hits.
std::string harvestHit(const WorkContext& context, const EstimatorDescription& estimator,
                       const Json* options, const Module* module, const ResultRow& row,
                       uint64_t planIndex, ShardHarvest& harvest);

} // namespace nocturne
