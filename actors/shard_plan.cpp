#include "actors/shard_plan.h"

#include <algorithm>

namespace nocturne {

namespace {

uint64_t gridSize(const std::vector<Axis>& grid) {
  uint64_t size = 1;
  for (const Axis& axis : grid)
    size *= axis.values.size();
  return size;
}

const EstimatorDescription& describe(const EstimatorEntry& entry, const EstimatorLookup& lookup) {
  if (const EstimatorDescription* found = lookup(entry.name))
    return *found;
  throw UsageError("there is no estimator \"" + entry.name + "\"", entry.pointer);
}

} // namespace

ShardPlan::ShardPlan(const SweepPlan& plan, const EstimatorLookup& lookup)
    : pointCount_(plan.pointCount()) {
  uint64_t combinations = 0;
  for (const EstimatorEntry& entry : plan.estimators)
    combinations += gridSize(entry.grid);
  // Points are estimator-major: each entry owns one range, and all of them see the same machines.
  uint64_t machines = combinations == 0 ? 0 : pointCount_ / combinations;
  uint64_t rangeStart = 0, first = 0;
  bool rangeConfined = false;
  for (const EstimatorEntry& entry : plan.estimators) {
    bool confined = !describe(entry, lookup).allowMultiprocess;
    if (confined && std::ranges::find(confinedEstimators_, entry.name) == confinedEstimators_.end())
      confinedEstimators_.push_back(entry.name);
    if (confined != rangeConfined) {
      addRange(rangeStart, first, rangeConfined);
      rangeStart = first;
      rangeConfined = confined;
    }
    first += gridSize(entry.grid) * machines;
  }
  addRange(rangeStart, first, rangeConfined);
}

void ShardPlan::addRange(uint64_t first, uint64_t end, bool confined) {
  for (; first < end; first += kShardPoints)
    chunks_.push_back(
        {first, static_cast<uint32_t>(std::min(kShardPoints, end - first)), confined});
}

size_t ShardPlan::chunkAt(uint64_t firstPoint) const {
  auto found = std::ranges::lower_bound(chunks_, firstPoint, {}, &Chunk::first);
  bool exact = found != chunks_.end() && found->first == firstPoint;
  return exact ? static_cast<size_t>(found - chunks_.begin()) : chunks_.size();
}

} // namespace nocturne
