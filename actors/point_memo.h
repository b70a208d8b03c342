// The points of a plan, resolved a chunk at a time and shared by the estimator actors of a process.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/error.h"
#include "engine/sweep_plan.h"

namespace nocturne {

// What a look-up needs of a point.
struct PointKey {
  Digest configuration;
  const EstimatorDescription* estimator = nullptr;
  std::shared_ptr<const Failure> failure; // set when the options of the point do not fit
};
using PointKeys = std::vector<PointKey>;
// What an estimate needs on top.
using PointOptions = std::vector<Json>;

// Least-recently-used values by the range of points that they belong to.
template <typename T>
class RangeCache {
public:
  using Range = std::pair<uint64_t, uint32_t>;
  explicit RangeCache(uint64_t maxPoints) : maxPoints_(maxPoints) {}
  std::shared_ptr<const T> find(Range range);
  void insert(Range range, std::shared_ptr<const T> value);

private:
  struct Entry {
    std::shared_ptr<const T> value;
    std::list<Range>::iterator place;
  };
  const uint64_t maxPoints_;
  uint64_t points_ = 0;
  std::map<Range, Entry> entries_;
  std::list<Range> recent_; // latest use first
};

// Thread-safe. Keys are small and kept for many points, options for few.
class PointMemo {
public:
  PointMemo(const SweepPlan& plan, EstimatorLookup lookup, std::string readerText);

  // Of the plan.
  uint64_t count() const { return count_; }
  std::shared_ptr<const PointKeys> keys(uint64_t first, uint32_t points);
  std::shared_ptr<const PointOptions> options(uint64_t first, uint32_t points);
  // True once for each range (or again, when it was long ago).
  bool firstAnnouncement(uint64_t first, uint32_t points);

private:
  void resolve(RangeCache<PointKeys>::Range range, std::shared_ptr<const PointKeys>& keys,
               std::shared_ptr<const PointOptions>& options);

  const SweepPlan& plan_;
  const uint64_t count_;
  const EstimatorLookup lookup_;
  const std::string readerText_;
  std::mutex mutex_; // guards everything below
  RangeCache<PointKeys> keys_;
  RangeCache<PointOptions> options_;
  RangeCache<bool> announced_;
};

} // namespace nocturne
