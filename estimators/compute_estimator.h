// What most estimators extend: statistics of every run, and a policy for operations without a rule.
#pragma once

#include "estimators/estimator_base.h"

namespace nocturne {

enum class UnknownOp : uint8_t { Error, Skip, Bandwidth };

class ComputeEstimator : public virtual Estimator {
public:
  static void describe(EstimatorClass<ComputeEstimator>& c);

  void addStatisticsTo(StatisticsTree& tree) const override;
  // What a cache hit adds to statistics when no hook wants to see it: the same as estimate() with
  // it.
  static void addHit(StatisticsTree& tree, const ResultRow& row);

protected:
  // The policy `unknown_op` for an operation, or a part of it, that no rule covers. `what` names
  // it: "operation stablehlo.x", "custom call target \"foo\"".
  OpResult unknown(const OpInfo& op, const std::string& what);
  // The time to move `bytes`, for unknown_op = bandwidth. Throws ItemError unless the class knows.
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

  UnknownOp unknownOp_ = UnknownOp::Error;
  RunTotals totals_; // of all runs of this instance
  ExactSum runtime_, operators_;
  int64_t modules_ = 0, hits_ = 0;
  std::optional<double> firstStart_, lastEnd_;
};

// Adds what only a finished tree can tell: per_op_runtime_prop, each name's share of the runtime.
void addShares(StatisticsTree& tree);

} // namespace nocturne
