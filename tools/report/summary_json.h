// summary.json and timing.json.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/statistics.h"
#include "storage/run_reader.h"
#include "tools/report/summary.h"

namespace nocturne::tools {

// Keys in the order in which they are written.
using OrderedJson = nlohmann::ordered_json;

// What the command stores with a run, beside the plan, for its reports. Text of one JSON object.
struct Provenance {
  OrderedJson inputs;  // estimator versions and reader: goes to summary.json
  OrderedJson process; // host, command and jobs: goes to timing.json
};
std::string toText(const Provenance& provenance);
// Missing or damaged parts are null.
Provenance provenanceFromText(const std::string& text);

// Indented, with the line's end; bytes that are no UTF-8 become U+FFFD.
std::string indentedText(const OrderedJson& json);

// Whole numbers without ".0", null for what JSON cannot say: as in the other files.
OrderedJson jsonNumber(double value);
OrderedJson jsonNumber(const std::optional<double>& value);

// What a statistic is about: the work, or the clock.
enum class StatisticsPart : uint8_t { Values, Intervals };
// Bare numbers in nested objects.
OrderedJson statisticsJson(const StatisticsTree& statistics, StatisticsPart part);
// The few that people look at first, as lines "title: value"; "" when there are none of them.
std::string keyStatistics(const StatisticsTree& statistics);

// Nothing in it depends on the clock, on the machine that ran it or on the number of jobs.
OrderedJson summaryJson(const RunFacts& facts, const Summary& summary,
                        const StatisticsTree& statistics);
// Everything that does.
OrderedJson timingJson(const RunFacts& facts, const RunCounts& counts,
                       const StatisticsTree& statistics);

} // namespace nocturne::tools
