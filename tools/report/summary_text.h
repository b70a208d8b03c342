// The end of a sweep on standard output, for people: at most about forty lines.
#pragma once

#include <string>

#include "tools/report/report.h"

namespace nocturne::tools {

// One row a machine (the fastest ones when there are many), the totals, and the first failures.
std::string summaryText(const Report& report);
// What a run will do, for --dry-run.
std::string planText(const SweepPlan& plan, int jobs);

// Estimator and its own axis values: "roofline compute_efficiency=0.5".
std::string estimatorLabel(const SweepPlan& plan, const PointSummary& point);
std::vector<std::string> confinedEstimators(const RunFacts& facts);

} // namespace nocturne::tools
