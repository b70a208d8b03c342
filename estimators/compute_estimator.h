// What most estimators extend: statistics of every run, and a policy for operations without a rule.
#pragma once

#include <string>

#include "estimators/estimator_base.h"

namespace nocturne {

// What to do about a part of a module that no rule covers.
enum class UnknownOp : uint8_t { Error, Skip, Bandwidth };
// From the value of an option that is one of "error", "skip" and "bandwidth".
UnknownOp unknownOpFrom(const Json& value);

class ComputeEstimator : public virtual Estimator {
public:
  static void describe(EstimatorClass<ComputeEstimator>& c);

  void addStatisticsTo(StatisticsTree& tree) const override;
  // What a cache hit adds to statistics when no hook wants to see it: the same as estimate() with
  // it.
  static void addHit(StatisticsTree& tree, const ResultRow& row);

protected:
  // Follows the policy. `what` names the part without a rule: "operation stablehlo.x".
  OpResult chargeUnknown(UnknownOp policy, const OpInfo& op, const std::string& what);
  // The time to move `bytes`, for the policy "bandwidth". Throws ItemError unless the class knows.
  virtual OpResult chargeBandwidth(const OpInfo& op, double bytes);
  void addRunStatisticsTo(StatisticsTree& tree, const ModuleResult& result) const override;
  // The same from sums: of one run or of many.
  virtual void addTotals(StatisticsTree& tree, const RunTotals& totals) const;

  // Sums of all runs of this instance.
  const RunTotals& totals() const { return totals_; }

private:
  OpResult handleUnknown(const OpInfo& op);
  void setUnknownOp(const Json& value);
  void countStart(const Module& module);
  void countRun(const Module& module, const ModuleResult& result);
  void countEstimate(const Module& module, const EstimatorResult& result);
  void mergeCounts(const ComputeEstimator& other);

  UnknownOp unknownOp_ = UnknownOp::Error;
  RunTotals totals_; // of all runs of this instance
  ExactSum runtime_, operators_;
  int64_t modules_ = 0, hits_ = 0;
  std::optional<double> firstStart_, lastEnd_;
};

// Adds what only a finished tree can tell: per_op_runtime_prop, each name's share of the runtime.
void addShares(StatisticsTree& tree);

} // namespace nocturne
