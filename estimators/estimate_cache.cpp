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
  // With the numbers, because the row may be of another measurement: of a sweep, or of a process
  // that was at it at the same time.
  const ResultRow& row = estimate.row;
  const Json json = {{"runtime", row.runtime ? Json(*row.runtime) : Json()},
                     {"flops", row.flops},
                     {"bytes", row.bytes},
                     {"metadata", estimate.metadata},
                     {"statistics", estimate.statistics}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool readDetails(const std::string& text, KnownEstimate& estimate) {
  try {
    Json json = Json::parse(text);
    const Json& runtime = json.at("runtime");
    estimate.row.runtime =
        runtime.is_null() ? std::nullopt : std::optional<double>(runtime.get<double>());
    estimate.row.flops = json.at("flops").get<double>();
    estimate.row.bytes = json.at("bytes").get<double>();
    estimate.metadata = std::move(json.at("metadata"));
    estimate.statistics = std::move(json.at("statistics"));
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

} // namespace

EstimateCache::EstimateCache(const Digest& configuration, std::shared_ptr<ResultStore> store,
                             std::string estimator, std::string options)
    : configuration_(configuration), store_(std::move(store)), estimator_(std::move(estimator)),
      options_(std::move(options)) {}

EstimateCache::~EstimateCache() {
  try {
    save();
  } catch (const std::exception&) {
    // Whoever has to know calls save() before.
  }
}

Digest EstimateCache::keyOf(const Digest& module) const {
  return resultKey(configuration_, module);
}

const KnownEstimate* EstimateCache::find(const Digest& key) {
  if (auto place = known_.find(key); place != known_.end())
    return &place->second;
  if (!store_)
    return nullptr;
  KnownEstimate estimate;
  try {
    std::optional<ResultRow> row = store_->find(std::span(&key, 1)).front();
    if (!row)
      return nullptr;
    estimate.row = std::move(*row);
    if (!readDetails(store_->findDetails(key), estimate))
      return nullptr;
  } catch (const StorageError& error) {
    warnings_.emplace_back(error.what());
    return nullptr;
  }
  return &known_.emplace(key, std::move(estimate)).first->second;
}

void EstimateCache::add(KnownEstimate estimate) {
  if (estimate.row.failure && !isDeterministic(*estimate.row.failure))
    return;
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
  if (!described_)
    store_->putConfiguration(configuration_, estimator_, options_);
  for (const Digest& key : unsaved_) {
    const KnownEstimate& estimate = known_.at(key);
    store_->put(std::span(&estimate.row, 1));
    store_->putDetails(key, detailsText(estimate));
  }
  store_->commit();
  described_ = true;
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
