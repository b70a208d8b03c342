#include "tools/report/summary_text.h"

#include <algorithm>
#include <set>

#include "storage/run_record.h"
#include "tools/human.h"
#include "tools/report/escape.h"
#include "tools/report/summary_json.h"

namespace nocturne::tools {

namespace {

constexpr size_t kMaxMachines = 20;
constexpr size_t kMaxNotes = 5;
constexpr size_t kModuleWidth = 28;

std::set<std::string> estimatorAxes(const SweepPlan& plan) {
  std::set<std::string> paths;
  for (const EstimatorEntry& entry : plan.estimators)
    for (const Axis& axis : entry.grid)
      paths.insert(axis.path);
  return paths;
}

// The points to show: all, or those that are most complete and fastest.
std::vector<const PointSummary*> shownPoints(const Summary& summary) {
  std::vector<const PointSummary*> points;
  for (const PointSummary& point : summary.points)
    points.push_back(&point);
  if (points.size() <= kMaxMachines && summary.pointsOmitted == 0)
    return points;
  const auto missing = [](const PointSummary* point) {
    return point->tally.failed + point->tally.notRun;
  };
  std::stable_sort(points.begin(), points.end(), [&](const auto* left, const auto* right) {
    if (missing(left) != missing(right))
      return missing(left) < missing(right);
    return left->tally.runtime.value() < right->tally.runtime.value();
  });
  points.resize(std::min(points.size(), kMaxMachines));
  return points;
}

std::string namedTime(const std::optional<NamedTime>& time) {
  if (!time)
    return "-";
  return humanTime(time->runtime) + " " + shortened(time->module, kModuleWidth);
}

std::string fitsText(const Tally& tally) {
  const uint64_t all = tally.fits + tally.doesNotFit;
  return all == 0 ? "?" : std::to_string(tally.fits) + "/" + std::to_string(all);
}

std::string machineTable(const Report& report) {
  using Align = TextTable::Align;
  TextTable table({{"estimator"},
                   {"machine"},
                   {"total", Align::Right},
                   {"ok", Align::Right},
                   {"failed", Align::Right},
                   {"coverage", Align::Right},
                   {"fits", Align::Right},
                   {"fastest module"},
                   {"slowest module"}});
  for (const PointSummary* point : shownPoints(report.summary)) {
    const Tally& tally = point->tally;
    table.row({estimatorLabel(report.facts.plan, *point), point->hardware,
               tally.ok ? humanTime(tally.runtime.value()) : "-", std::to_string(tally.ok),
               std::to_string(tally.failed), tally.ok ? humanPercent(tally.coverageMean()) : "-",
               fitsText(tally), namedTime(point->fastest), namedTime(point->slowest)});
  }
  std::string text = table.text();
  const uint64_t all = report.summary.points.size() + report.summary.pointsOmitted;
  if (table.rowCount() < all)
    text += "the fastest " + std::to_string(table.rowCount()) + " of " + withCommas(all) +
            (report.summary.pointsOmitted > 0
                 ? " (looked for in the first " + withCommas(report.summary.points.size()) + ")"
                 : "") +
            "; results.csv has the rest\n";
  return text;
}

std::string failuresText(const Report& report) {
  const Summary& summary = report.summary;
  std::string text;
  for (const FailedItem& item : summary.firstFailures)
    text += "  " + item.module + " on " + item.hardware + " (" + item.estimator +
            "): " + std::string(toString(item.failure.kind)) + ": " + item.failure.text() + '\n';
  if (text.empty())
    return text;
  std::string kinds;
  for (const auto& [kind, count] : summary.total.failures)
    kinds += (kinds.empty() ? "" : ", ") + withCommas(count) + ' ' + std::string(toString(kind));
  return withCommas(summary.total.failed) + " items failed (" + kinds + "), among them:\n" + text;
}

std::string uncoveredText(const Summary& summary) {
  if (summary.uncovered.empty())
    return {};
  std::vector<UncoveredTotal> most = summary.uncovered;
  std::stable_sort(most.begin(), most.end(), [](const auto& left, const auto& right) {
    return left.modules > right.modules;
  });
  std::string text = "no rule for: ";
  for (size_t i = 0; i < std::min<size_t>(most.size(), 4); ++i)
    text += (i ? ", " : "") + most[i].name + " (" + std::to_string(most[i].modules) + " modules)";
  if (most.size() > 4)
    text += " and " + std::to_string(most.size() - 4) + " more in summary.json";
  return text + '\n';
}

template <typename Entry, typename Name>
std::string entryNames(const std::vector<Entry>& entries, const Name& name) {
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min<size_t>(entries.size(), 10); ++i) {
    std::string text = name(entries[i]);
    for (const Axis& axis : entries[i].grid)
      text += " x " + axis.path + "[" + std::to_string(axis.values.size()) + "]";
    names.push_back(std::move(text));
  }
  if (entries.size() > 10)
    names.push_back(std::to_string(entries.size() - 10) + " more");
  return joined(names);
}

std::string cacheText(const SweepPlan& plan) {
  switch (plan.cacheMode) {
  case CacheMode::Disabled:
    return "disabled";
  case CacheMode::InMemory:
    return "in memory only";
  case CacheMode::OnDisk:
    break;
  }
  return plan.cacheDir;
}

} // namespace

std::string estimatorLabel(const SweepPlan& plan, const PointSummary& point) {
  std::string label = point.estimator;
  const std::set<std::string> own = estimatorAxes(plan);
  for (const auto& [path, value] : point.axes)
    if (own.contains(path))
      label += ' ' + path + '=' + plainText(value);
  return label;
}

std::vector<std::string> confinedEstimators(const RunFacts& facts) {
  std::vector<std::string> names;
  const OrderedJson inputs = provenanceFromText(facts.provenance).inputs;
  if (!inputs.is_object())
    return names;
  for (const OrderedJson& estimator : inputs.value("estimators", OrderedJson::array()))
    if (estimator.value("confined_to_one_actor", false))
      names.push_back(estimator.value("name", std::string()));
  return names;
}

std::string summaryText(const Report& report) {
  std::string text = machineTable(report);
  const Tally& total = report.summary.total;
  text += withCommas(report.facts.moduleCount) + " modules x " +
          withCommas(report.facts.pointCount) + " points: " + withCommas(total.ok) + " ok, " +
          withCommas(total.failed) + " failed, " + withCommas(total.notRun) + " not run, " +
          withCommas(report.counts.cacheHits) + " from the cache\n";
  text += failuresText(report);
  text += uncoveredText(report.summary);
  if (const std::vector<std::string> confined = confinedEstimators(report.facts); !confined.empty())
    text +=
        "confined to one actor (not declared safe to run in several): " + joined(confined) + '\n';
  const std::vector<std::string>& notes = report.facts.plan.notes;
  for (size_t i = 0; i < std::min(notes.size(), kMaxNotes); ++i)
    text += "note: " + notes[i] + '\n';
  if (notes.size() > kMaxNotes)
    text += std::to_string(notes.size() - kMaxNotes) + " more notes in summary.json\n";
  text += "results: " + report.files.csv + ", " + report.files.jsonl + ", " + report.files.summary +
          '\n';
  return text;
}

std::string planText(const SweepPlan& plan, int jobs) {
  const uint64_t points = plan.pointCount();
  const uint64_t modules = plan.modules.size();
  const uint64_t shards = (points + kShardPoints - 1) / kShardPoints * modules;
  std::string text;
  const auto line = [&](const std::string& name, const std::string& value) {
    text += name + std::string(12 - name.size(), ' ') + value + '\n';
  };
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min<size_t>(modules, 10); ++i)
    names.push_back(plan.modules[i].name);
  if (modules > 10)
    names.push_back(withCommas(modules - 10) + " more");
  line("modules", withCommas(modules) + ": " + joined(names));
  line("estimators", entryNames(plan.estimators, [](const auto& entry) { return entry.name; }));
  line("machines", entryNames(plan.hardware, [](const auto& entry) { return entry.nameTemplate; }));
  const std::vector<std::string> axes = plan.axisColumns();
  line("axes", axes.empty() ? "none" : joined(axes));
  line("points", withCommas(points));
  line("items", withCommas(modules * points));
  line("shards", withCommas(shards) + " of up to " + std::to_string(kShardPoints) + " points");
  line("jobs", std::to_string(jobs));
  line("results", plan.outputDir + "/results.csv, results.jsonl, summary.json, timing.json");
  line("record", runRecordPath(plan.outputDir));
  line("cache", cacheText(plan));
  for (const std::string& note : plan.notes)
    text += "note: " + note + '\n';
  return text;
}

} // namespace nocturne::tools
