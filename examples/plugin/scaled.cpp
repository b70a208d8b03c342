// The time that a module takes on this computer, carried over to other machines: as much longer or
// shorter as their memory is slower or faster.
#include "estimators/cpu_estimator.h"
#include "estimators/plugin.h"

namespace {

using namespace nocturne;

class ScaledEstimator : public CpuEstimator {
public:
  static void describe(EstimatorClass<ScaledEstimator>& c) {
    c.name("scaled").version(1).extends<CpuEstimator>();
    c.help("what was measured here, by the ratio of memory bandwidths");
    c.option("memory_bandwidth", &ScaledEstimator::bandwidth_, option::positive)
        .fromHardware("memory_bandwidth")
        .help("of the machine, in bytes per second");
    c.option("bandwidth_here", &ScaledEstimator::bandwidthHere_, option::positive)
        .defaultValue(2e10)
        .help("of one thread of this computer, in bytes per second");
  }

protected:
  ModuleResult wholeModuleResult(const Module& module, const ModuleSource& source) override {
    ModuleResult result = CpuEstimator::wholeModuleResult(module, source);
    result.runtime = result.runtime.value() * bandwidthHere_ / bandwidth_;
    return result;
  }

private:
  double bandwidth_ = 0, bandwidthHere_ = 0;
};

void addEstimators(EstimatorRegistry& registry) {
  registry.add<ScaledEstimator>();
}

} // namespace

NOCTURNE_PLUGIN("1.0", addEstimators)
