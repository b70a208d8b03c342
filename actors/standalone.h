// The services of an estimator that is used as a library: no actors, one call after the other.
#pragma once

#include "engine/services.h"
#include "engine/sweep_plan.h"

namespace nocturne {

// Reads StableHLO files with these assumptions, and keeps results in cache.sqlite of the folders
// that estimators name with their option cache_dir. An unusable folder costs its hits only; see
// Estimator::takeWarnings. Estimators that measure need the command nocturne, which is
// taken from $NOCTURNE_PROGRAM or $PATH.
//
//   EstimatorRegistry registry;
//   registerBuiltins(registry);
//   auto estimator = registry.make("roofline", config, {}, standalone());
//   EstimatorResult result = estimator->getEstimate(*module);
Services standalone(const Assumptions& assumptions = {});

} // namespace nocturne
