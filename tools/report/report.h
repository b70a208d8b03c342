// Makes the files of a report from run.sqlite alone: of a finished run, and of one that is not.
#pragma once

#include <string>

#include "engine/statistics.h"
#include "storage/run_reader.h"
#include "tools/report/summary.h"

namespace nocturne::tools {

struct ReportFiles {
  std::string csv, jsonl, summary, timing;
  std::string events; // "" when there are none
};
ReportFiles reportFiles(const std::string& directory);

struct Report {
  RunFacts facts;
  RunCounts counts;
  Summary summary;
  StatisticsTree statistics;
  ReportFiles files;
};

// Writes results.csv, results.jsonl, summary.json, timing.json and, when estimators told events,
// events.json into `directory`, each complete or not at all. Streams: memory grows with the points,
// up to a bound, not with the items. Throws StorageError.
Report writeReport(RunReader& reader, const std::string& directory);

} // namespace nocturne::tools
