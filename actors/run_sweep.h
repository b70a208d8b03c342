// Runs a plan: the only entry to the actors, and free of CAF.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/json.h"
#include "engine/services.h"
#include "engine/sweep_plan.h"

namespace nocturne {

class EstimatorRegistry;

// What a run works with. `reader` and `estimators` are used from several threads at once; `cache`
// and `record` from one thread, which is not the caller's, and not after runSweep() has returned.
// `cache` is not touched when the plan disables it.
struct SweepServices {
  ModuleReader& reader;
  const EstimatorRegistry& estimators;
  ResultStore& cache;
  RunRecord& record;
  ProgressListener* progress = nullptr; // called from one thread, not the caller's
};

struct SweepControl {
  int jobs = 0; // estimator actors; 0 or less: one per processor
  bool failFast = false;
  std::stop_token stop = {};
  double graceSeconds = 5; // how long what runs may go on after a stop
  // Consecutive deaths of workers, with nothing computed in between, that end the run.
  unsigned restartLimit = 32;
};

struct SweepOutcome {
  enum class Kind : uint8_t {
    Complete,
    Failed,            // complete, but some items failed
    Interrupted,       // by the stop token
    StoppedByFailFast, // an item failed
    StoppedByStorage,  // the run record could not be written
    StoppedByRestarts, // workers only died
    Broken,            // a part of the run that nothing can replace died: a bug of ours
  };
  Kind kind = Kind::Complete;
  std::string message; // one line for people; empty when complete

  // Counts of this call alone: a resumed run leaves out what was committed before, but in
  // `earlier`.
  uint64_t ok = 0, failed = 0, notRun = 0, earlier = 0;
  // Items answered by the cache or by another item of the run, and items estimated. Independent of
  // the number of actors. Items without a result that may be kept count in neither.
  uint64_t hits = 0, computed = 0;
  double seconds = 0;
  // What metadata hooks say of this call's items, by name of the estimator; null when there are
  // none.
  Json metadata;
  std::vector<std::string> confinedEstimators; // those that one actor alone may run
};

// Does every shard of the plan that the record does not hold yet and waits for the end. Everything
// that is counted is committed. Throws UsageError for a plan that names an unknown estimator, and
// nothing else.
SweepOutcome runSweep(const SweepPlan& plan, const SweepServices& services,
                      const SweepControl& control);

} // namespace nocturne
