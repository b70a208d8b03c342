// The metadata of a run: of each class of estimators with metadata hooks, one instance absorbs
// those of all shards, and its hooks run once, at the end.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "actors/shard_harvest.h"
#include "engine/json.h"

namespace nocturne {

// Thread-safe.
class RunMetadata {
public:
  // What a shard has to add, once it is committed. A shard that is done again, its worker being
  // dead, replaces what it said before.
  void propose(uint64_t module, uint64_t firstPoint, ShardHarvest& harvest);
  void commit(uint64_t module, uint64_t firstPoint);
  // What went wrong with what estimators gathered, by name of the class.
  void addErrors(const std::map<std::string, std::string>& errors);
  // By name of the class; null when no class has anything to say. What a hook throws is told in its
  // place, under "error".
  Json collect();

private:
  using Estimators = std::vector<std::pair<std::string, AbsorbedEstimator>>;
  void absorbCommitted();

  std::mutex mutex_; // guards everything below
  std::map<std::pair<uint64_t, uint64_t>, Estimators> proposed_;
  std::vector<Estimators> committed_; // not yet absorbed
  std::map<std::string, AbsorbedEstimator> all_;
  std::map<std::string, std::string> errors_; // the first of each class
};

} // namespace nocturne
