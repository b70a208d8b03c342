#include "actors/run_metadata.h"

namespace nocturne {

void RunMetadata::propose(uint64_t module, uint64_t firstPoint, ShardHarvest& harvest) {
  Estimators estimators;
  for (auto& [name, all] : harvest.estimators())
    if (all.instance->hasMetadataHooks())
      estimators.emplace_back(name, std::move(all));
  std::lock_guard lock(mutex_);
  absorbCommitted();
  if (!estimators.empty())
    proposed_[{module, firstPoint}] = std::move(estimators);
}

void RunMetadata::commit(uint64_t module, uint64_t firstPoint) {
  std::lock_guard lock(mutex_);
  auto place = proposed_.find({module, firstPoint});
  if (place == proposed_.end())
    return;
  committed_.push_back(std::move(place->second));
  proposed_.erase(place);
}

void RunMetadata::addErrors(const std::map<std::string, std::string>& errors) {
  std::lock_guard lock(mutex_);
  errors_.insert(errors.begin(), errors.end());
}

void RunMetadata::absorbCommitted() {
  for (Estimators& estimators : committed_)
    for (auto& [name, one] : estimators) {
      try {
        all_[name].take(one.planIndex, std::move(one.instance));
      } catch (const std::exception& error) {
        errors_.emplace(name, error.what());
      }
    }
  committed_.clear();
}

Json RunMetadata::collect() {
  std::lock_guard lock(mutex_);
  absorbCommitted();
  Json metadata;
  for (auto& [name, all] : all_) {
    try {
      metadata[name] = all.instance->getMetadata();
    } catch (const std::exception& error) {
      errors_.emplace(name, error.what());
    }
  }
  for (const auto& [name, error] : errors_)
    metadata[name]["error"] = error;
  return metadata;
}

} // namespace nocturne
