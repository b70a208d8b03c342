#include "actors/shard_harvest.h"

#include <utility>

namespace nocturne {

std::string withoutThrowing(const std::function<void()>& code) {
  try {
    code();
    return {};
  } catch (const std::exception& error) {
    const std::string what = error.what();
    return what.empty() ? "an exception without a text" : what;
  } catch (...) {
    return "something was thrown that is no exception";
  }
}

std::string AbsorbedEstimator::take(uint64_t index, std::shared_ptr<Estimator> other) {
  if (!instance) {
    planIndex = index;
    instance = std::move(other);
    return {};
  }
  if (index < planIndex) {
    std::swap(index, planIndex);
    std::swap(instance, other);
  }
  return withoutThrowing([&] { instance->absorb(*other); });
}

void ShardHarvest::take(uint64_t planIndex, std::shared_ptr<Estimator> instance) {
  const std::string& name = instance->displayName();
  std::string error = estimators_[name].take(planIndex, instance);
  if (!error.empty())
    errors_.emplace(name, std::move(error));
}

std::string ShardHarvest::serialisedStatistics() {
  for (const auto& [name, all] : estimators_) {
    StatisticsTree own;
    std::string error =
        withoutThrowing([&, &instance = all.instance] { own = instance->getStatistics(); });
    if (error.empty())
      statistics_.merge(own);
    else
      errors_.emplace(name, std::move(error));
  }
  return statistics_.empty() ? std::string() : statistics_.serialise(true);
}

} // namespace nocturne
