#include "actors/item_estimate.h"

#include <algorithm>

#include "estimators/compute_estimator.h"
#include "estimators/registry.h"

namespace nocturne {

namespace {

// Runs `work` and turns what it throws into a failure; nothing when it throws nothing.
template <typename Work>
std::optional<Failure> caught(const Work& work) {
  try {
    work();
    return std::nullopt;
  } catch (const ItemError& error) {
    return error.failure();
  } catch (const UsageError& error) {
    return Failure{FailureKind::BadConfig, error.what(), {}, 0, 0};
  } catch (const std::exception& error) {
    return Failure{FailureKind::Internal, error.what(), {}, 0, 0};
  } catch (...) {
    return Failure{FailureKind::Internal, "something was thrown that is no exception", {}, 0, 0};
  }
}

std::string takeEventLines(Estimator& instance) {
  const EventStream events = instance.takeEvents();
  return events.empty() ? std::string() : events.text(EventFormat::JsonLines);
}

bool keepsComputeStatistics(const EstimatorDescription& estimator) {
  return std::ranges::any_of(estimator.versions,
                             [](const auto& version) { return version.first == "compute"; });
}

} // namespace

ItemOutcome failedItem(Failure failure, int64_t op) {
  ItemOutcome outcome;
  outcome.row.failure = failure.kind;
  outcome.row.failureMessage = failure.message;
  outcome.row.failureOp = op;
  outcome.repeatable = isDeterministic(failure.kind);
  outcome.thrown = std::move(failure);
  return outcome;
}

ItemOutcome estimateItem(const WorkContext& context, const EstimatorDescription& estimator,
                         const Json& options, const Digest& key, const Module& module,
                         uint64_t planIndex, ShardHarvest& harvest,
                         std::shared_ptr<Estimator>& previous) {
  ItemOutcome outcome;
  int64_t op = -1;
  std::shared_ptr<Estimator> instance;
  std::optional<Failure> failure = caught([&] {
    instance = context.estimators.create(estimator.name, options);
    if (previous)
      instance->prepareLike(*previous);
    instance->setPlanIndex(planIndex);
    instance->setStop(context.abandon);
    EstimatorResult result =
        instance->estimate(module, key.hex(), nullptr, context.cacheEnabled(), &op);
    outcome.row = toRow(result, op);
    outcome.events = takeEventLines(*instance);
    outcome.thrown = std::move(result.failure);
    outcome.repeatable = !outcome.row.failure || isDeterministic(*outcome.row.failure);
  });
  if (failure)
    return failedItem(std::move(*failure), op);
  if (outcome.row.success)
    harvest.take(planIndex, instance);
  previous = std::move(instance);
  return outcome;
}

std::string harvestHit(const WorkContext& context, const EstimatorDescription& estimator,
                       const Json* options, const Module* module, const ResultRow& row,
                       uint64_t planIndex, ShardHarvest& harvest) {
  std::string events;
  std::shared_ptr<Estimator> instance;
  if (!estimator.hooksSeeHits) {
    if (keepsComputeStatistics(estimator))
      ComputeEstimator::addHit(harvest.statistics(), row);
    return events;
  }
  if (options == nullptr || module == nullptr)
    return events;
  // The result of a hit is known; a hook that fails costs what it would have added only.
  const std::optional<Failure> failure = caught([&] {
    instance = context.estimators.create(estimator.name, *options);
    instance->setPlanIndex(planIndex);
    instance->estimate(*module, row.key.hex(), &row, true, nullptr);
    events = takeEventLines(*instance);
  });
  if (!failure)
    harvest.take(planIndex, std::move(instance));
  return events;
}

} // namespace nocturne
