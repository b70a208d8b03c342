#include "actors/shard_harvest.h"

#include <utility>

namespace nocturne {

void AbsorbedEstimator::take(uint64_t index, std::shared_ptr<Estimator> other) {
  if (!instance) {
    planIndex = index;
    instance = std::move(other);
    return;
  }
  if (index < planIndex) {
    std::swap(index, planIndex);
    std::swap(instance, other);
  }
  instance->absorb(*other);
}

void ShardHarvest::take(uint64_t planIndex, std::shared_ptr<Estimator> instance) {
  AbsorbedEstimator& all = estimators_[instance->displayName()];
  all.take(planIndex, std::move(instance));
}

std::string ShardHarvest::serialisedStatistics(std::map<std::string, std::string>& errors) {
  for (const auto& [name, all] : estimators_) {
    try {
      StatisticsTree own = all.instance->getStatistics();
      statistics_.merge(own);
    } catch (const std::exception& error) {
      errors.emplace(name, error.what());
    }
  }
  return statistics_.empty() ? std::string() : statistics_.serialise(true);
}

} // namespace nocturne
