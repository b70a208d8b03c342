// What the estimates of one shard gathered: statistics, and what classes hold besides.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "engine/statistics.h"
#include "estimators/estimator_base.h"

namespace nocturne {

// Instances of one class that became one. The instance of the lowest index in the plan absorbs the
// others, so that its options do not depend on who was first.
struct AbsorbedEstimator {
  uint64_t planIndex = 0;
  std::shared_ptr<Estimator> instance; // null: none yet

  void take(uint64_t index, std::shared_ptr<Estimator> other);
};

class ShardHarvest {
public:
  // `instance` has estimated the item with this index.
  void take(uint64_t planIndex, std::shared_ptr<Estimator> instance);
  // For what needs no instance.
  StatisticsTree& statistics() { return statistics_; }
  // All statistics; "" when there are none. A class that throws is left out and added to `errors`,
  // by its name.
  std::string serialisedStatistics(std::map<std::string, std::string>& errors);
  // By name of the class.
  std::map<std::string, AbsorbedEstimator>& estimators() { return estimators_; }

private:
  StatisticsTree statistics_;
  std::map<std::string, AbsorbedEstimator> estimators_;
};

} // namespace nocturne
