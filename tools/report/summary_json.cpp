#include "tools/report/summary_json.h"

#include <cmath>

namespace nocturne::tools {

namespace {

OrderedJson tallyJson(const Tally& tally) {
  OrderedJson json;
  json["ok"] = tally.ok;
  json["failed"] = tally.failed;
  json["not_run"] = tally.notRun;
  json["runtime_s"] = jsonNumber(tally.runtime.value());
  json["flops"] = jsonNumber(tally.flops.value());
  json["bytes"] = jsonNumber(tally.bytes.value());
  json["coverage"] = OrderedJson::object();
  json["coverage"]["min"] = tally.ok ? jsonNumber(tally.coverageMin) : OrderedJson();
  json["coverage"]["mean"] = tally.ok ? jsonNumber(tally.coverageMean()) : OrderedJson();
  json["fits_memory"] = {
      {"yes", tally.fits}, {"no", tally.doesNotFit}, {"unknown", tally.fitUnknown}};
  json["failures"] = OrderedJson::object();
  for (const auto& [kind, count] : tally.failures)
    json["failures"][std::string(toString(kind))] = count;
  return json;
}

OrderedJson namedTimeJson(const std::optional<NamedTime>& time) {
  if (!time)
    return nullptr;
  return {{"module", time->module}, {"runtime_s", jsonNumber(time->runtime)}};
}

OrderedJson pointJson(const PointSummary& point) {
  OrderedJson json;
  json["estimator"] = point.estimator;
  json["hardware"] = point.hardware;
  json["axes"] = OrderedJson::object();
  for (const auto& [path, value] : point.axes)
    json["axes"][path] = OrderedJson::parse(canonicalJson(value));
  json.update(tallyJson(point.tally));
  json["fastest"] = namedTimeJson(point.fastest);
  json["slowest"] = namedTimeJson(point.slowest);
  return json;
}

// Where the numbers of each machine come from.
OrderedJson machinesJson(const SweepPlan& plan) {
  OrderedJson machines = OrderedJson::array();
  for (const HardwareEntry& entry : plan.hardware) {
    OrderedJson machine;
    machine["hardware"] = entry.base.name;
    for (const char* key : {"source", "date", "confidence", "peak_flops_means", "notes"})
      if (const auto value = entry.base.values.find(key); value != entry.base.values.end())
        machine[key] = OrderedJson(*value);
    machines.push_back(std::move(machine));
  }
  return machines;
}

OrderedJson uncoveredJson(const Summary& summary) {
  OrderedJson list = OrderedJson::array();
  for (const UncoveredTotal& operation : summary.uncovered)
    list.push_back(
        {{"name", operation.name}, {"modules", operation.modules}, {"results", operation.results}});
  return list;
}

OrderedJson provenanceJson(const RunFacts& facts) {
  OrderedJson json;
  json["nocturne"] = facts.nocturneVersion;
  json["plan"] = facts.planDigest.hex();
  const OrderedJson inputs = provenanceFromText(facts.provenance).inputs;
  if (inputs.is_object())
    json.update(inputs);
  json["machines"] = machinesJson(facts.plan);
  return json;
}

// What estimators said of the run, by their names.
OrderedJson metadataJson(const std::string& text) {
  OrderedJson json = OrderedJson::parse(text, nullptr, false);
  return json.is_object() ? json : OrderedJson::object();
}

void addValues(OrderedJson& json, const ContainerStatistic& container, StatisticsPart part) {
  for (const auto& [name, member] : container.members()) {
    if (member->kind() == StatisticKind::Container) {
      OrderedJson nested = OrderedJson::object();
      addValues(nested, static_cast<const ContainerStatistic&>(*member), part);
      if (!nested.empty())
        json[name] = std::move(nested);
    } else if ((member->kind() == StatisticKind::Interval) == (part == StatisticsPart::Intervals)) {
      json[name] = jsonNumber(member->value());
    }
  }
}

// In the order in which they are shown.
const std::vector<std::string>& keyStatisticNames() {
  static const std::vector<std::string> names = {
      "cache_hits", "cache_hit_prop", "cache_op_hit_prop", "flops_util", "mem_bw_util",
      "avg_flopss", "total_energy",   "avg_mem_bw",        "runtime"};
  return names;
}

} // namespace

std::string toText(const Provenance& provenance) {
  OrderedJson json;
  json["inputs"] = provenance.inputs;
  json["process"] = provenance.process;
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

Provenance provenanceFromText(const std::string& text) {
  const OrderedJson json = OrderedJson::parse(text, nullptr, false);
  if (!json.is_object())
    return {};
  return {json.value("inputs", OrderedJson()), json.value("process", OrderedJson())};
}

std::string indentedText(const OrderedJson& json) {
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + '\n';
}

OrderedJson jsonNumber(double value) {
  if (!std::isfinite(value))
    return nullptr;
  if (std::fabs(value) < 9007199254740992.0 && std::trunc(value) == value)
    return static_cast<int64_t>(value);
  return value;
}

OrderedJson jsonNumber(const std::optional<double>& value) {
  return value ? jsonNumber(*value) : OrderedJson();
}

OrderedJson statisticsJson(const StatisticsTree& statistics, StatisticsPart part) {
  OrderedJson json = OrderedJson::object();
  addValues(json, statistics.root(), part);
  return json;
}

std::string keyStatistics(const StatisticsTree& statistics) {
  std::vector<std::string> present;
  const Statistic* hits = statistics.root().find("cache_hits");
  const bool anyHits = hits && hits->value().value_or(0) > 0;
  for (const std::string& name : keyStatisticNames())
    if (statistics.root().find(name) && (anyHits || !name.starts_with("cache_")))
      present.push_back(name);
  return present.empty() ? std::string() : statistics.toText(present);
}

OrderedJson summaryJson(const RunFacts& facts, const Summary& summary,
                        const StatisticsTree& statistics) {
  OrderedJson json;
  json["modules"] = facts.moduleCount;
  json["points"] = facts.pointCount;
  json["total"] = tallyJson(summary.total);
  json["per_point"] = OrderedJson::array();
  for (const PointSummary& point : summary.points)
    json["per_point"].push_back(pointJson(point));
  // The files of rows have them all; here they would only make the page long.
  json["points_omitted"] = summary.pointsOmitted;
  json["uncovered"] = uncoveredJson(summary);
  json["uncovered_omitted"] = summary.uncoveredOmitted;
  json["statistics"] = statisticsJson(statistics, StatisticsPart::Values);
  json["metadata"] = metadataJson(facts.metadata);
  json["notes"] = facts.plan.notes;
  json["provenance"] = provenanceJson(facts);
  return json;
}

OrderedJson timingJson(const RunFacts& facts, const RunCounts& counts,
                       const StatisticsTree& statistics) {
  OrderedJson json;
  json["outcome"] = facts.outcome.empty() ? OrderedJson() : OrderedJson(facts.outcome);
  json["started"] = facts.started;
  json["finished"] = facts.finished.empty() ? OrderedJson() : OrderedJson(facts.finished);
  json["items_from_cache"] = counts.cacheHits;
  const OrderedJson process = provenanceFromText(facts.provenance).process;
  if (process.is_object())
    json.update(process);
  json["intervals_s"] = statisticsJson(statistics, StatisticsPart::Intervals);
  return json;
}

} // namespace nocturne::tools
