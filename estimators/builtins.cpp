#include "estimators/command_estimator.h"
#include "estimators/cpu_estimator.h"
#include "estimators/registry.h"
#include "estimators/roofline_estimator.h"
#include "estimators/roofline_hespas_estimator.h"
#include "estimators/simulator_estimator.h"
#include "estimators/systolic_estimator.h"

namespace nocturne {

void registerBuiltins(EstimatorRegistry& registry) {
  registry.add<RooflineEstimator>();
  registry.add<RooflineHespasEstimator>();
  registry.add<SystolicEstimator>();
  registry.add<SimulatorEstimator>();
  registry.add<CocossimEstimator>();
  registry.add<CommandEstimator>();
  registry.add<XlaEstimator>();
  registry.add<IreeEstimator>();
  registry.add<CpuEstimator>();
}

} // namespace nocturne
