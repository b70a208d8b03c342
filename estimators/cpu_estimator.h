// The time that a module takes on this computer: compiled as a whole for its processor, run with
// random data, measured.
#pragma once

#include <string>

#include "engine/kernel_builder.h"
#include "estimators/compute_estimator.h"

namespace nocturne {

// Says the same of every machine: what is measured is the processor at hand, one thread of it.
class CpuEstimator : public virtual ComputeEstimator {
public:
  static void describe(EstimatorClass<CpuEstimator>& c);

protected:
  ModuleResult wholeModuleResult(const Module& module, const ModuleSource& source) override;
  void addRunStatisticsTo(StatisticsTree& tree, const ModuleResult& result) const override;

  // As the options say; for classes that make something else of it. Throws ItemError.
  Measurement measured(const Module& module, const ModuleSource& source);
  // The one that the option `statistic` asks for, in seconds.
  double chosen(const Measurement& measurement) const;

private:
  enum class Choice : uint8_t { Median, Least, Mean };
  void setStatistic(const Json& value);

  std::string entry_, arch_;
  int64_t warmup_ = 0, repetitions_ = 1, seed_ = 0;
  double minSeconds_ = 0, timeout_ = 600;
  Choice choice_ = Choice::Median;
  Measurement latest_;
};

} // namespace nocturne
