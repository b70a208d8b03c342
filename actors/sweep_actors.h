// runSweep with the workers exchanged, for tests.
#pragma once

#include <functional>

#include <caf/actor_system.hpp>

#include "actors/estimator_actor.h"
#include "actors/run_sweep.h"
#include "actors/supervisor.h"

namespace nocturne {

using WorkerWrapper = std::function<EstimatorHandle(caf::actor_system&, EstimatorSetup)>;

// An empty wrapper: the estimator actors.
SweepOutcome runSweepWith(const SweepPlan& plan, const SweepServices& services,
                          const SweepControl& control, const WorkerWrapper& wrapper);

} // namespace nocturne
