// The timeline of an estimate, for Perfetto: each operation after the one before, as the model adds
// them up.
#pragma once

#include <cstddef>
#include <string>

#include "tools/estimate_report.h"

namespace nocturne::tools {

struct Trace {
  std::string json;      // Chrome's trace events
  size_t shown = 0;      // rows of the module that became slices
  size_t operations = 0; // rows of the module
};

// One slice a row, as long as all of its executions; free operations are left out. At most `limit`
// slices: what follows is cut, and a last event says so. Empty for a module without a table.
Trace traceOf(const EstimateReport& report, size_t limit);

} // namespace nocturne::tools
