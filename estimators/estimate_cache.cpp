#include "estimators/estimate_cache.h"

#include <span>
#include <utility>

#include "engine/error.h"
#include "engine/sweep_plan.h"

namespace nocturne {

namespace {

using namespace std::chrono_literals;

// Results that come faster than this are saved together.
constexpr auto kSavePause = 50ms;
constexpr size_t kMostUnsaved = 256;

std::string detailsText(const KnownEstimate& estimate) {
  const Json json = {{"metadata", estimate.metadata}, {"statistics", estimate.statistics}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool readDetails(const std::string& text, KnownEstimate& estimate) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("metadata") || !json.contains("statistics"))
    return false;
  estimate.metadata = std::move(json["metadata"]);
  estimate.statistics = std::move(json["statistics"]);
  return true;
}

} // namespace

EstimateCache::EstimateCache(const Digest& configuration, std::shared_ptr<ResultStore> store)
    : configuration_(configuration), store_(std::move(store)) {}

EstimateCache::~EstimateCache() {
  try {
    save();
  } catch (const std::exception&) {
    // Whoever has to know calls save() before.
  }
}

void EstimateCache::describe(const std::string& estimator, const std::string& options) {
  estimator_ = estimator;
  options_ = options;
}

Digest EstimateCache::keyOf(const Digest& module) const {
  return resultKey(configuration_, module);
}

const KnownEstimate* EstimateCache::find(const Digest& key) {
  if (auto place = known_.find(key); place != known_.end())
    return &place->second;
  if (!store_)
    return nullptr;
  std::optional<ResultRow> row = store_->find(std::span(&key, 1)).front();
  KnownEstimate estimate;
  if (!row || !readDetails(store_->findDetails(key), estimate))
    return nullptr;
  estimate.row = std::move(*row);
  return &known_.emplace(key, std::move(estimate)).first->second;
}

void EstimateCache::add(KnownEstimate estimate) {
  const Digest key = estimate.row.key;
  estimate.row.configuration = configuration_;
  if (!known_.emplace(key, std::move(estimate)).second || !store_)
    return;
  unsaved_.push_back(key);
  if (unsaved_.size() < kMostUnsaved && Clock::now() - lastSave_ < kSavePause)
    return;
  try {
    save();
  } catch (const StorageError& error) {
    warnings_.emplace_back(error.what());
  }
}

void EstimateCache::save() {
  if (!store_ || unsaved_.empty())
    return;
  store_->begin();
  if (!estimator_.empty())
    store_->putConfiguration(configuration_, estimator_, options_);
  for (const Digest& key : unsaved_) {
    const KnownEstimate& estimate = known_.at(key);
    store_->put(std::span(&estimate.row, 1));
    store_->putDetails(key, detailsText(estimate));
  }
  store_->commit();
  estimator_.clear();
  unsaved_.clear();
  lastSave_ = Clock::now();
}

std::vector<std::string> EstimateCache::takeWarnings() {
  std::vector<std::string> warnings = std::exchange(warnings_, {});
  if (store_)
    for (std::string& warning : store_->takeWarnings())
      warnings.push_back(std::move(warning));
  return warnings;
}

} // namespace nocturne
