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
                         StatisticsTree& statistics, std::unique_ptr<Estimator>& previous) {
  ItemOutcome outcome;
  int64_t op = -1;
  std::optional<Failure> failure = caught([&] {
    auto instance = context.estimators.create(estimator.name, options);
    if (previous)
      instance->prepareLike(*previous);
    EstimatorResult result =
        instance->estimate(module, key.hex(), nullptr, context.cacheEnabled(), &op);
    outcome.row = toRow(result, op);
    if (result.success)
      instance->addStatisticsTo(statistics);
    else
      outcome.thrown = std::move(result.failure);
    outcome.repeatable = !outcome.row.failure || isDeterministic(*outcome.row.failure);
    previous = std::move(instance);
  });
  return failure ? failedItem(std::move(*failure), op) : outcome;
}

void addHitStatistics(const WorkContext& context, const EstimatorDescription& estimator,
                      const Json* options, const Module* module, const ResultRow& row,
                      StatisticsTree& statistics) {
  if (!estimator.hooksSeeHits) {
    if (keepsComputeStatistics(estimator))
      ComputeEstimator::addHit(statistics, row);
    return;
  }
  if (options == nullptr || module == nullptr)
    return;
  // The result of a hit is known; a hook that fails costs its statistics only.
  (void)caught([&] {
    auto instance = context.estimators.create(estimator.name, *options);
    instance->estimate(*module, row.key.hex(), &row, true, nullptr);
    instance->addStatisticsTo(statistics);
  });
}

} // namespace nocturne
