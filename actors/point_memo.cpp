#include "actors/point_memo.h"

namespace nocturne {

namespace {

std::shared_ptr<const Failure> failed(FailureKind kind, const std::exception& error) {
  return std::make_shared<const Failure>(Failure{kind, error.what(), {}, 0, 0});
}

constexpr uint64_t kKeptKeys = 1 << 16;   // points; 64 bytes each
constexpr uint64_t kKeptOptions = 1 << 9; // points; a few kilobytes each

} // namespace

template <typename T>
std::shared_ptr<const T> RangeCache<T>::find(Range range) {
  auto entry = entries_.find(range);
  if (entry == entries_.end())
    return nullptr;
  recent_.splice(recent_.begin(), recent_, entry->second.place);
  return entry->second.value;
}

template <typename T>
void RangeCache<T>::insert(Range range, std::shared_ptr<const T> value) {
  auto [entry, isNew] = entries_.try_emplace(range);
  if (!isNew)
    return;
  recent_.push_front(range);
  entry->second = {std::move(value), recent_.begin()};
  points_ += range.second;
  while (points_ > maxPoints_ && recent_.size() > 1) {
    points_ -= recent_.back().second;
    entries_.erase(recent_.back());
    recent_.pop_back();
  }
}

PointMemo::PointMemo(const SweepPlan& plan, EstimatorLookup lookup, std::string readerText)
    : plan_(plan), count_(plan.pointCount()), lookup_(std::move(lookup)),
      readerText_(std::move(readerText)), keys_(kKeptKeys), options_(kKeptOptions),
      announced_(kKeptKeys) {}

bool PointMemo::firstAnnouncement(uint64_t first, uint32_t points) {
  std::lock_guard lock(mutex_);
  if (announced_.find({first, points}))
    return false;
  announced_.insert({first, points}, std::make_shared<const bool>(true));
  return true;
}

std::shared_ptr<const PointKeys> PointMemo::keys(uint64_t first, uint32_t points) {
  std::shared_ptr<const PointKeys> keys;
  {
    std::lock_guard lock(mutex_);
    keys = keys_.find({first, points});
  }
  std::shared_ptr<const PointOptions> options;
  if (!keys)
    resolve({first, points}, keys, options);
  return keys;
}

std::shared_ptr<const PointOptions> PointMemo::options(uint64_t first, uint32_t points) {
  std::shared_ptr<const PointOptions> options;
  {
    std::lock_guard lock(mutex_);
    options = options_.find({first, points});
  }
  std::shared_ptr<const PointKeys> keys;
  if (!options)
    resolve({first, points}, keys, options);
  return options;
}

void PointMemo::resolve(RangeCache<PointKeys>::Range range, std::shared_ptr<const PointKeys>& keys,
                        std::shared_ptr<const PointOptions>& options) {
  auto newKeys = std::make_shared<PointKeys>(range.second);
  auto newOptions = std::make_shared<PointOptions>(range.second);
  for (uint32_t i = 0; i < range.second; ++i) {
    PointKey& key = (*newKeys)[i];
    try {
      Point point = plan_.point(range.first + i, lookup_, readerText_);
      key.configuration = point.configuration;
      key.estimator = lookup_(point.estimator);
      (*newOptions)[i] = std::move(point.options);
    } catch (const UsageError& error) {
      key.failure = failed(FailureKind::BadConfig, error);
    } catch (const std::exception& error) {
      key.failure = failed(FailureKind::Internal, error);
    }
  }
  keys = std::move(newKeys);
  options = std::move(newOptions);
  std::lock_guard lock(mutex_);
  keys_.insert(range, keys);
  options_.insert(range, options);
}

} // namespace nocturne
