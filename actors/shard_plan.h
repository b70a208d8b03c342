// How the points of a plan are cut into chunks: a shard is one module with one chunk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/sweep_plan.h"

namespace nocturne {

struct Chunk {
  uint64_t first = 0; // point
  uint32_t points = 0;
  bool confined = false; // its estimators may run in one actor only
};

// Chunks hold up to kShardPoints neighbouring points and never mix confined estimators with free
// ones. The same plan is always cut in the same way: a resumed run relies on it.
class ShardPlan {
public:
  // Throws UsageError when an estimator is unknown.
  ShardPlan(const SweepPlan& plan, const EstimatorLookup& lookup);

  const std::vector<Chunk>& chunks() const { return chunks_; }
  // The chunk that begins at this point; chunks().size() when none does.
  size_t chunkAt(uint64_t firstPoint) const;
  uint64_t pointCount() const { return pointCount_; }
  const std::vector<std::string>& confinedEstimators() const { return confinedEstimators_; }

private:
  void addRange(uint64_t first, uint64_t end, bool confined);
  std::vector<Chunk> chunks_; // by first point
  std::vector<std::string> confinedEstimators_;
  uint64_t pointCount_ = 0;
};

} // namespace nocturne
