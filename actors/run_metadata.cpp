#include "actors/run_metadata.h"

namespace nocturne {

void RunMetadata::propose(uint64_t module, uint64_t firstPoint, ShardHarvest& harvest) {
  Proposal proposal;
  for (auto& [name, all] : harvest.estimators())
    if (all.instance->hasMetadataHooks())
      proposal.emplace(name, std::move(all));
  for (const auto& [name, error] : harvest.errors())
    warn(name, error);
  for (const auto& [name, all] : proposal)
    absorb(name);
  std::lock_guard lock(waiting_);
  if (proposal.empty())
    proposed_.erase({module, firstPoint});
  else
    proposed_[{module, firstPoint}] = std::move(proposal);
}

void RunMetadata::commit(uint64_t module, uint64_t firstPoint) {
  std::lock_guard lock(waiting_);
  auto place = proposed_.find({module, firstPoint});
  if (place == proposed_.end())
    return;
  for (auto& [name, all] : place->second)
    committed_[name].push_back(std::move(all));
  proposed_.erase(place);
}

void RunMetadata::absorb(const std::string& name) {
  std::vector<AbsorbedEstimator> waiting;
  {
    std::lock_guard lock(waiting_);
    if (auto place = committed_.find(name); place != committed_.end())
      waiting = std::exchange(place->second, {});
  }
  std::lock_guard lock(absorbing_);
  for (AbsorbedEstimator& one : waiting)
    if (std::string error = all_[name].take(one.planIndex, std::move(one.instance)); !error.empty())
      warn(name, error);
}

void RunMetadata::warn(const std::string& name, const std::string& what) {
  std::lock_guard lock(waiting_);
  if (told_.emplace(name, what).second)
    warnings_.emplace(name, what);
}

Json RunMetadata::collect() {
  std::vector<std::string> names;
  {
    std::lock_guard lock(waiting_);
    for (const auto& [name, waiting] : committed_)
      names.push_back(name);
  }
  for (const std::string& name : names)
    absorb(name);
  std::lock_guard lock(absorbing_);
  if (metadata_)
    return *metadata_;
  metadata_.emplace();
  for (auto& [name, all] : all_)
    if (std::string error = withoutThrowing([&, &key = name, &instance = all.instance] {
          (*metadata_)[key] = instance->getMetadata();
        });
        !error.empty())
      warn(name, error);
  return *metadata_;
}

std::vector<std::string> RunMetadata::takeWarnings() {
  std::lock_guard lock(waiting_);
  std::vector<std::string> sentences;
  for (const auto& [name, what] : std::exchange(warnings_, {}))
    sentences.push_back("what estimator " + name + " gathered is not complete: " + what);
  return sentences;
}

} // namespace nocturne
