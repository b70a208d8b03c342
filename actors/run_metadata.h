// The metadata of a run: of each class of estimators with metadata hooks, one instance absorbs
// those of all shards, and its hooks run once, at the end.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/shard_harvest.h"
#include "engine/json.h"

namespace nocturne {

// Thread-safe. Merge functions of a class run in threads that propose its instances, so that a
// class that is confined to one actor stays there; its hooks run where collect() is called, after
// all actors are done.
class RunMetadata {
public:
  // What a shard has to add, once it is committed. A shard that is done again, its worker being
  // dead, replaces what it said before.
  void propose(uint64_t module, uint64_t firstPoint, ShardHarvest& harvest);
  // Does not wait for a merge.
  void commit(uint64_t module, uint64_t firstPoint);
  // By name of the class; null when no class has anything to say. The same again when called again.
  Json collect();
  // What classes threw, which costs what they gathered: sentences for people, since the last call.
  std::vector<std::string> takeWarnings();

private:
  using Proposal = std::map<std::string, AbsorbedEstimator>;
  void absorb(const std::string& name);
  void warn(const std::string& name, const std::string& what);

  std::mutex waiting_; // guards what follows; never held while code of an estimator runs
  std::map<std::pair<uint64_t, uint64_t>, Proposal> proposed_;
  std::map<std::string, std::vector<AbsorbedEstimator>> committed_; // not yet absorbed
  std::map<std::string, std::string> warnings_;                     // the first of each class
  std::map<std::string, std::string> told_;

  std::mutex absorbing_; // guards all_ and metadata_
  Proposal all_;
  std::optional<Json> metadata_;
};

} // namespace nocturne
