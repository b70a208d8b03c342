// What the estimates of one shard gathered: statistics, and what classes hold besides.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "engine/statistics.h"
#include "estimators/estimator_base.h"

namespace nocturne {

// Runs code of an estimator. What it throws, whatever that is, comes back as text; "" for nothing.
std::string withoutThrowing(const std::function<void()>& code);

// Instances of one class that became one. The instance of the lowest index in the plan absorbs the
// others, so that its options do not depend on who was first.
struct AbsorbedEstimator {
  uint64_t planIndex = 0;
  std::shared_ptr<Estimator> instance; // null: none yet

  // Returns what the class threw, or "". What `other` gathered is then lost.
  std::string take(uint64_t index, std::shared_ptr<Estimator> other);
};

class ShardHarvest {
public:
  // `instance` has estimated the item with this index. Throws nothing.
  void take(uint64_t planIndex, std::shared_ptr<Estimator> instance);
  // For what needs no instance.
  StatisticsTree& statistics() { return statistics_; }
  // All statistics; "" when there are none. Throws nothing: a class that throws is left out.
  std::string serialisedStatistics();
  // By name of the class.
  std::map<std::string, AbsorbedEstimator>& estimators() { return estimators_; }
  // What classes threw, by name: the first of each.
  const std::map<std::string, std::string>& errors() const { return errors_; }

private:
  StatisticsTree statistics_;
  std::map<std::string, AbsorbedEstimator> estimators_;
  std::map<std::string, std::string> errors_;
};

} // namespace nocturne
