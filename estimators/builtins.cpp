#include "estimators/registry.h"
#include "estimators/roofline_estimator.h"
#include "estimators/roofline_hespas_estimator.h"

namespace nocturne {

void registerBuiltins(EstimatorRegistry& registry) {
  registry.add<RooflineEstimator>();
  registry.add<RooflineHespasEstimator>();
}

} // namespace nocturne
