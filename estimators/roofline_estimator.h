// The roofline model: an operation takes the longer of its arithmetic at the rate of its type and
// its memory traffic at the memory's bandwidth; a module takes the sum. docs/roofline.md has every
// rule.
#pragma once

#include <array>
#include <bitset>
#include <map>
#include <string>

#include "estimators/compute_estimator.h"
#include "estimators/work.h"

namespace nocturne {

class RooflineEstimator : public virtual ComputeEstimator {
public:
  static void describe(EstimatorClass<RooflineEstimator>& c);

  // A handler made of a rule.
  template <WorkRule Rule>
  OpResult charged(const OpInfo& op) {
    return charge(op, workOf(op, Rule));
  }
  void addStatisticsTo(StatisticsTree& tree) const override;

protected:
  // The time of some work on this machine.
  OpResult charge(const OpInfo& op, const Work& work);
  OpResult chargeBandwidth(const OpInfo& op, double bytes) override;
  void addTotals(StatisticsTree& tree, const RunTotals& totals) const override;
  void addRunStatisticsTo(StatisticsTree& tree, const ModuleResult& result) const override;

  // Seconds of arithmetic of an operation inside a fusion; `result` is what its handler said.
  virtual double arithmeticSeconds(const OpInfo& op, const OpResult& result) const;
  // The longer of `compute` seconds of arithmetic and the traffic of the result's bytes.
  void setTime(OpResult& result, double compute) const;
  // A time that includes the traffic.
  void setKnownTime(OpResult& result, double seconds) const;

  double peakFlops() const { return peakFlops_; }
  // B/s: the machine's bandwidth times bandwidth_efficiency. Known from the init hooks on.
  double attainableBandwidth() const { return bandwidth_; }

private:
  static constexpr size_t kKinds = 64;

  // Seconds that the work of some runs would take at the machine's full rates: what utilisations
  // are shares of. Added up module by module, so that the order of modules cannot show.
  struct IdealSeconds {
    std::map<ElementKind, ExactSum> byType;
    ExactSum memory;
  };

  void addOverhead(OpResult& result, double time) const;
  OpResult fusion(const OpInfo& op);
  OpResult customCall(const OpInfo& op);
  void setUnknownCustomCall(const Json& value);
  void prepareRates();
  void countIdeal(const Module& module, const ModuleResult& result);
  void mergeIdeal(const RooflineEstimator& other);
  double addIdeal(IdealSeconds& to, const ModuleResult& result) const;
  double rateFromTable(ElementKind kind, bool& assumed) const;
  void addUtilisation(StatisticsTree& tree, const RunTotals& totals,
                      const IdealSeconds& ideal) const;

  double peakFlops_ = 0, memoryBandwidth_ = 0;
  std::map<std::string, double> perDatatypeFlops_;
  double computeEfficiency_ = 1, bandwidthEfficiency_ = 1, opOverhead_ = 0;
  bool tf32_ = true, errorOnUnknownType_ = false;
  double tdp_ = 0, hbmPowerRatio_ = 0;
  UnknownOp unknownCustomCall_ = UnknownOp::Bandwidth;

  std::array<double, kKinds> rates_{}; // attainable FLOP/s by ElementKind
  std::bitset<kKinds> assumed_;
  double bandwidth_ = 0; // attainable B/s
  bool hasTf32_ = false;
  IdealSeconds ideal_;
  std::optional<ExactSum> energy_; // joules; nothing while no machine said what it draws
};

} // namespace nocturne
