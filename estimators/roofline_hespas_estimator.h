// The roofline of the Python tool hespas, its quirks included, so that its published numbers can be
// reproduced: docs/roofline.md lists where it differs from the roofline estimator, and why.
#pragma once

#include <array>
#include <map>
#include <string>
#include <unordered_set>

#include "estimators/compute_estimator.h"

namespace nocturne {

class RooflineHespasEstimator : public virtual ComputeEstimator {
public:
  static void describe(EstimatorClass<RooflineHespasEstimator>& c);

protected:
  // The operations of the compute blocks that hespas would cut the module into.
  double operationCount(const Module& module) const override;
  OpResult chargeBandwidth(const OpInfo& op, double bytes) override;
  void addTotals(StatisticsTree& tree, const RunTotals& totals) const override;

private:
  OpResult binary(const OpInfo& op);
  OpResult ternary(const OpInfo& op);
  OpResult unary(const OpInfo& op);
  OpResult nothing(const OpInfo& op);
  OpResult copy(const OpInfo& op);
  OpResult concatenate(const OpInfo& op);
  OpResult slice(const OpInfo& op);
  OpResult updateSlice(const OpInfo& op);
  OpResult gather(const OpInfo& op);
  OpResult scatter(const OpInfo& op);
  OpResult reduce(const OpInfo& op);
  OpResult reduceWindow(const OpInfo& op);
  OpResult selectAndScatter(const OpInfo& op);
  OpResult sort(const OpInfo& op);
  OpResult dot(const OpInfo& op);
  OpResult convolution(const OpInfo& op);
  OpResult raggedDot(const OpInfo& op);
  OpResult fusion(const OpInfo& op);
  OpResult customCall(const OpInfo& op);
  OpResult communication(const OpInfo& op);

  // The roofline of one operation, and of the operations inside it where hespas lists those as
  // well.
  OpResult finish(const OpInfo& op, double flops, double bytes);
  void addBodies(const OpInfo& op, OpResult& result);
  double rateOf(const OpInfo& op, ElementKind widest, bool& assumed) const;
  void prepareRates();
  void findUnseparated(const Module& module);

  double peakFlops_ = 0, memoryBandwidth_ = 0;
  std::map<std::string, double> perDatatypeFlops_;
  std::array<double, 64> rates_{}; // by ElementKind, 0 where the table has none
  bool errorOnUnknownType_ = false;
  std::vector<bool> communication_; // by distinct operation of the module at hand
  // Collectives of the module at hand that some row has inside a callee, loop or branch.
  std::unordered_set<const OpInfo*> unseparated_;
};

} // namespace nocturne
