// One module on one machine, operation by operation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/module.h"
#include "engine/result.h"
#include "engine/statistics.h"
#include "estimators/estimator_base.h"
#include "tools/report/summary_json.h"

namespace nocturne::tools {

// What one execution of a distinct operation costs, and how often it runs.
struct OperationCost {
  uint32_t op = 0; // index into Module::ops
  double runs = 0;
  std::optional<double> runtime; // seconds; absent when there is no rule for it
  double flops = 0, bytes = 0;
  Bound bound = Bound::Free;
  bool covered = true;
  std::string place; // of its first row
  std::string failure;

  double totalRuntime() const { return runtime.value_or(0) * runs; }
};

// Asks the estimator for each distinct operation as a module of its own, so that an operation
// without a rule costs only its own line. Longest total time first. It leaves traces in the
// statistics of `estimator`; give it an instance of its own.
std::vector<OperationCost> operationCosts(const Module& module, Estimator& estimator);

// Everything that `nocturne estimate` shows.
struct EstimateReport {
  std::string name; // of the module, as in results.csv
  Point point;
  ModulePtr module;                      // null when it could not be read
  std::optional<EstimatorResult> result; // absent when it failed
  std::optional<Failure> failure;
  std::vector<OperationCost> operations; // empty for a whole-module estimator
  StatisticsTree statistics;
};

// One object with the names of results.csv, and ops[], statistics, metadata, assumptions[],
// failure{}.
OrderedJson toJson(const EstimateReport& report);
// `top` operations, 0 for all.
std::string toText(const EstimateReport& report, size_t top);

} // namespace nocturne::tools
