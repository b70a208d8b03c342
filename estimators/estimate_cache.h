// The results that one estimator remembers when it is used as a library: in memory, and in a cache
// that outlives the process when there is one.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/services.h"

namespace nocturne {

// A result as it is kept: its numbers, and what only who estimates one module wants.
struct KnownEstimate {
  ResultRow row;
  Json metadata, statistics;
};

// One thread at a time.
class EstimateCache {
public:
  // `store` may be null: then nothing outlives this object. `estimator` and `options` tell people
  // who look into the cache how its results were made.
  explicit EstimateCache(const Digest& configuration = Digest(),
                         std::shared_ptr<ResultStore> store = nullptr, std::string estimator = {},
                         std::string options = {});
  // Saves what is not saved yet, as far as that is possible.
  ~EstimateCache();
  EstimateCache(const EstimateCache&) = delete;
  EstimateCache& operator=(const EstimateCache&) = delete;

  // `module` as in resultKey().
  Digest keyOf(const Digest& module) const;
  // nullptr when it is not known; valid until the next add(). A row that came into the cache
  // without details, as those of a sweep do, is not known.
  const KnownEstimate* find(const Digest& key);
  // A key that is known already stays as it is, and a failure that may not come again is not kept.
  // Saves at once, unless estimates come so fast that several are saved together.
  void add(KnownEstimate estimate);
  // Makes everything durable. Throws StorageError when the store does; one that gets over its
  // trouble tells it by takeWarnings().
  void save();
  std::vector<std::string> takeWarnings();

private:
  using Clock = std::chrono::steady_clock;

  const Digest configuration_;
  const std::shared_ptr<ResultStore> store_;
  const std::string estimator_, options_;
  bool described_ = false;
  std::unordered_map<Digest, KnownEstimate> known_;
  std::vector<Digest> unsaved_;
  Clock::time_point lastSave_;
  std::vector<std::string> warnings_;
};

} // namespace nocturne
