// What the estimator actors of a process share; all of it may be used from several threads.
#pragma once

#include <stop_token>
#include <string>

#include "actors/claim_table.h"
#include "actors/module_memo.h"
#include "actors/point_memo.h"
#include "actors/run_metadata.h"
#include "engine/services.h"

namespace nocturne {

class EstimatorRegistry;

struct WorkContext {
  const SweepPlan& plan;
  const EstimatorRegistry& estimators;
  ModuleReader& reader;
  std::string readerText;
  PointMemo& points;
  ModuleMemo& modules;
  RunMetadata& metadata;
  const ClaimTable* results = nullptr; // null when the cache is disabled
  std::stop_token drain = {};          // begin no batch any more
  std::stop_token abandon = {};        // and leave the one at hand

  bool cacheEnabled() const { return results != nullptr; }
};

} // namespace nocturne
