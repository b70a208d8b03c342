// A roofline on which sorting is slower than the machine's numbers say, and that notes when a
// module moves more than it computes.
#include "estimators/plugin.h"
#include "estimators/roofline_estimator.h"

namespace {

using namespace nocturne;

class FrictionEstimator : public RooflineEstimator {
public:
  static void describe(EstimatorClass<FrictionEstimator>& c) {
    c.name("friction").version(1).extends<RooflineEstimator>().allowMultiprocess();
    c.help("a roofline with slow sorting");
    c.option("sort_factor", &FrictionEstimator::sortFactor_, option::positive)
        .defaultValue(4.0)
        .help("how much longer a sort takes than its traffic");
    c.opHandler({"stablehlo.sort"}, &FrictionEstimator::sort);
    c.preRunHook(&FrictionEstimator::begin);
    c.postRunHook(&FrictionEstimator::end);
    c.metadataHook(&FrictionEstimator::sum);
    c.mergeWith<&FrictionEstimator::add>();
  }

private:
  OpResult sort(const OpInfo& op) {
    // Read and written once for each factor of the traffic.
    ++sorts_;
    return chargeBandwidth(op, sortFactor_ * (op.operandBytes() + op.resultBytes()));
  }

  void begin(const Module& module) { addEvent("begin", 0, "s", {{"module", module.name}}); }

  void end(const Module&, const ModuleResult& result) {
    addEvent("end", result.runtime.value_or(0), "s", {{"bytes", result.bytes}});
  }

  // A run has many instances, one for each module and machine. One of them is given all others, and
  // then asked.
  void add(const FrictionEstimator& other) { sorts_ += other.sorts_; }
  Json sum() { return {{"distinct_sorts", sorts_}}; }

  double sortFactor_ = 1;
  int sorts_ = 0;
};

void addEstimators(EstimatorRegistry& registry) {
  registry.add<FrictionEstimator>();
}

} // namespace

NOCTURNE_PLUGIN("1.0", addEstimators)
