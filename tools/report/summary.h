// What a run came to, added up item by item while its rows are written.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/exact_sum.h"
#include "storage/run_reader.h"
#include "tools/report/notes.h"
#include "tools/report/row_text.h"

namespace nocturne::tools {

struct NamedTime {
  std::string module;
  double runtime = 0; // seconds
};

// Counts and sums over items: of one point, or of the run.
struct Tally {
  uint64_t ok = 0, failed = 0, notRun = 0;
  uint64_t fits = 0, doesNotFit = 0, fitUnknown = 0;
  ExactSum runtime; // seconds, over the items that are ok, as all below
  ExactSum flops, bytes;
  double coverageMin = 1;
  ExactSum coverage;
  std::map<FailureKind, uint64_t> failures;

  void add(const ItemRecord& item, FitsMemory fit);
  double coverageMean() const;
};

// One estimator with its options on one machine, over all modules.
struct PointSummary {
  std::string estimator, hardware;
  std::vector<std::pair<std::string, Json>> axes;
  double memoryCapacity = 0;
  Tally tally;
  std::optional<NamedTime> fastest, slowest;
};

// An operation that no rule covered: in how many modules, and in how many results.
struct UncoveredTotal {
  std::string name;
  uint64_t modules = 0, results = 0;
};

struct FailedItem {
  std::string module, estimator, hardware;
  Failure failure;
};

struct Summary {
  std::vector<PointSummary> points;
  uint64_t pointsOmitted = 0; // those behind the first kMaxPoints
  Tally total;
  std::vector<UncoveredTotal> uncovered; // by name
  uint64_t uncoveredOmitted = 0;         // those behind the first kMaxUncovered
  std::vector<FailedItem> firstFailures; // one per module and message, for the end of a run
};

class SummaryBuilder {
public:
  static constexpr uint64_t kMaxPoints = 1000;
  static constexpr size_t kMaxUncovered = 1000;
  static constexpr size_t kMaxFailures = 5;

  explicit SummaryBuilder(const SweepPlan& plan);
  // In report order.
  void add(const RunModule& module, const ItemRecord& item, const Notes& notes,
           double memoryCapacity);
  Summary finish();

private:
  struct Seen {
    uint64_t modules = 0, results = 0;
    uint64_t lastModule = ~uint64_t{0};
  };
  void addUncovered(uint64_t module, const Notes& notes);
  void addFailure(const RunModule& module, const ItemRecord& item);

  const SweepPlan& plan_;
  Summary summary_;
  std::map<std::string, Seen, std::less<>> uncovered_;
};

} // namespace nocturne::tools
