#include "tools/estimate_report.h"

#include <algorithm>
#include <array>

#include "engine/failure_json.h"
#include "tools/human.h"
#include "tools/report/row_text.h"

namespace nocturne::tools {

namespace {

constexpr size_t kShapeWidth = 56;
constexpr size_t kPlaceWidth = 40;

std::vector<std::string> typeTexts(const std::vector<TensorType>& types) {
  std::vector<std::string> texts;
  for (const TensorType& type : types)
    texts.push_back(type.text());
  return texts;
}

std::string shapesText(const OpInfo& op) {
  std::string text;
  for (const std::string& type : typeTexts(op.operands))
    text += (text.empty() ? "" : ", ") + type;
  text += text.empty() ? "-> " : " -> ";
  bool first = true;
  for (const std::string& type : typeTexts(op.results)) {
    text += (first ? "" : ", ") + type;
    first = false;
  }
  return text;
}

// The name, with the target of a custom call.
std::string operationName(const OpInfo& op) {
  const auto* call = op.get<CustomCallAttributes>();
  return call ? op.name + "(" + call->target + ")" : op.name;
}

void costOf(const OpInfo& op, Estimator& estimator, OperationCost& cost) {
  const Module alone = ModuleBuilder("operation").add(op).build();
  try {
    const EstimatorResult result = estimator.estimate(alone, "", nullptr, false);
    cost.runtime = result.runtime;
    cost.flops = result.flops;
    cost.bytes = result.bytes;
    cost.covered = result.coveredRuns == result.totalRuns;
    if (const std::vector<OpNameTotal> totals = estimator.opTotals(); !totals.empty())
      cost.bound = totals.front().bound;
  } catch (const ItemError& error) {
    cost.covered = false;
    cost.failure = error.failure().message;
  }
}

// Seconds of the table by what bounds them, in the order of Bound.
std::array<double, 4> timeByBound(const EstimateReport& report) {
  std::array<double, 4> times{};
  for (const OperationCost& cost : report.operations)
    times.at(static_cast<size_t>(cost.bound)) += cost.totalRuntime();
  return times;
}

double totalTime(const EstimateReport& report) {
  double total = 0;
  for (const OperationCost& cost : report.operations)
    total += cost.totalRuntime();
  return total;
}

std::optional<ModuleFacts> factsOfReport(const EstimateReport& report) {
  return report.module ? std::optional(factsOf(*report.module)) : std::nullopt;
}

// The assumptions of the module, then the rates that the estimator had to suppose.
std::vector<CountedAssumption> allAssumptions(const EstimateReport& report) {
  std::vector<CountedAssumption> all;
  if (report.module)
    all = countAssumptions(report.module->assumptions);
  if (report.result)
    for (const ElementKind kind : report.result->assumedRates)
      all.push_back({rateAssumption(std::string(name(kind))), 1});
  return all;
}

OrderedJson operationJson(const OperationCost& cost, const Module& module, double total) {
  const OpInfo& op = module.ops[cost.op];
  OrderedJson json;
  json["name"] = op.name;
  if (const auto* call = op.get<CustomCallAttributes>())
    json["target"] = call->target;
  json["operands"] = typeTexts(op.operands);
  json["results"] = typeTexts(op.results);
  json["runs"] = jsonNumber(cost.runs);
  json["runtime_s"] = jsonNumber(cost.runtime);
  json["total_runtime_s"] = cost.runtime ? jsonNumber(cost.totalRuntime()) : OrderedJson();
  json["share"] = jsonNumber(total > 0 ? cost.totalRuntime() / total : 0.0);
  json["flops"] = jsonNumber(cost.flops);
  json["bytes"] = jsonNumber(cost.bytes);
  json["bound"] = std::string(toString(cost.bound));
  json["covered"] = cost.covered;
  json["place"] = cost.place;
  json["message"] = cost.failure.empty() ? OrderedJson() : OrderedJson(cost.failure);
  return json;
}

OrderedJson assumptionsJson(const EstimateReport& report) {
  OrderedJson list = OrderedJson::array();
  for (const auto& [assumption, count] : allAssumptions(report))
    list.push_back({{"kind", assumption.kind},
                    {"value", assumption.value},
                    {"location", assumption.location},
                    {"count", count}});
  return list;
}

// The numbers of a results row.
void addNumbers(OrderedJson& json, const EstimateReport& report) {
  const EstimatorResult* result = report.result ? &*report.result : nullptr;
  json["runtime_s"] = result ? jsonNumber(result->runtime) : OrderedJson();
  json["flops"] = result ? jsonNumber(result->flops) : OrderedJson();
  json["bytes"] = result ? jsonNumber(result->bytes) : OrderedJson();
  const Module* module = report.module.get();
  json["collectives"] = module ? jsonNumber(module->collectives) : OrderedJson();
  json["collective_bytes"] = module ? jsonNumber(module->collectiveBytes) : OrderedJson();
  json["coverage"] = result ? jsonNumber(result->coverage()) : OrderedJson();
  const std::optional<ModuleFacts> facts = factsOfReport(report);
  json["fits_memory"] =
      std::string(toString(fitsMemory(facts ? &*facts : nullptr, report.point.memoryCapacity)));
}

std::string operationTable(const EstimateReport& report, size_t top) {
  using Align = TextTable::Align;
  TextTable table({{"operation"},
                   {"shapes"},
                   {"runs", Align::Right},
                   {"time", Align::Right},
                   {"share", Align::Right},
                   {"flops", Align::Right},
                   {"bytes", Align::Right},
                   {"bound"},
                   {"place"}});
  const double total = totalTime(report);
  const size_t count =
      top == 0 ? report.operations.size() : std::min(top, report.operations.size());
  for (size_t i = 0; i < count; ++i) {
    const OperationCost& cost = report.operations[i];
    const OpInfo& op = report.module->ops[cost.op];
    table.row({operationName(op), shortened(shapesText(op), kShapeWidth), humanCount(cost.runs),
               cost.runtime ? humanTime(cost.totalRuntime()) : "-",
               humanPercent(total > 0 ? cost.totalRuntime() / total : 0),
               humanCount(cost.flops * cost.runs), humanBytes(cost.bytes * cost.runs),
               cost.failure.empty() ? std::string(toString(cost.bound)) : "no rule",
               shortened(cost.place, kPlaceWidth)});
  }
  std::string text = table.text();
  if (count < report.operations.size())
    text +=
        "and " + std::to_string(report.operations.size() - count) + " more; --top 0 lists all\n";
  return text + '\n';
}

std::string boundText(const EstimateReport& report) {
  const std::array<double, 4> times = timeByBound(report);
  const double total = totalTime(report);
  const auto most = std::max_element(times.begin(), times.end());
  if (total <= 0)
    return "nothing";
  return std::string(toString(static_cast<Bound>(most - times.begin()))) + " for " +
         humanPercent(*most / total) + " of the time";
}

std::string fitsText(const EstimateReport& report) {
  const double capacity = report.point.memoryCapacity;
  const std::string need = humanBytes(report.module->peakBytes) + " at the peak";
  if (capacity <= 0)
    return need + "; the machine does not say what it has";
  return (report.module->peakBytes <= capacity ? "yes, " : "no, ") + need + " of " +
         humanBytes(capacity);
}

std::string uncoveredText(const EstimatorResult& result) {
  std::string text =
      humanPercent(result.coverage()) + " of " + humanCount(result.totalRuns) + " operations";
  for (size_t i = 0; i < result.uncovered.size(); ++i)
    text += (i ? ", " : "; no rule for ") + result.uncovered[i].name;
  return text;
}

void addLine(std::string& text, const std::string& title, const std::string& value) {
  text += title + std::string(14 - title.size(), ' ') + value + '\n';
}

void addTotals(std::string& text, const EstimateReport& report) {
  const EstimatorResult& result = *report.result;
  addLine(text, "runtime", result.runtime ? humanTime(*result.runtime) : "none");
  addLine(text, "flops", humanCount(result.flops));
  addLine(text, "bytes", humanBytes(result.bytes));
  if (!report.operations.empty())
    addLine(text, "bound by", boundText(report));
  if (report.module->collectives > 0)
    addLine(text, "collectives",
            humanCount(report.module->collectives) + " with " +
                humanBytes(report.module->collectiveBytes));
  addLine(text, "coverage", uncoveredText(result));
}

} // namespace

std::vector<OperationCost> operationCosts(const Module& module, Estimator& estimator) {
  std::vector<OperationCost> costs(module.ops.size());
  for (size_t i = 0; i < costs.size(); ++i) {
    costs[i].op = static_cast<uint32_t>(i);
    costs[i].runs = module.opRuns[i];
    costOf(module.ops[i], estimator, costs[i]);
  }
  for (const OpRow& row : module.rows)
    if (std::string& place = costs[row.op].place; place.empty())
      place = module.place(row);
  std::stable_sort(costs.begin(), costs.end(), [](const auto& left, const auto& right) {
    return left.totalRuntime() > right.totalRuntime();
  });
  return costs;
}

OrderedJson toJson(const EstimateReport& report) {
  OrderedJson json;
  json["module"] = report.name;
  json["fingerprint"] =
      report.module ? OrderedJson(report.module->fingerprint.hex()) : OrderedJson();
  json["estimator"] = report.point.estimator;
  json["hardware"] = report.point.hardware;
  json["status"] = report.failure ? "failed" : "ok";
  addNumbers(json, report);
  json["assumptions"] = assumptionsJson(report);
  json["failure"] = report.failure ? OrderedJson(*report.failure) : OrderedJson();
  json["message"] = report.failure ? OrderedJson(report.failure->text()) : OrderedJson();
  json["peak_bytes"] = report.module ? jsonNumber(report.module->peakBytes) : OrderedJson();
  json["options"] = OrderedJson(report.point.options);
  json["uncovered"] = OrderedJson::array();
  if (report.result)
    for (const Uncovered& operation : report.result->uncovered)
      json["uncovered"].push_back({{"name", operation.name}, {"runs", jsonNumber(operation.runs)}});
  json["ops"] = OrderedJson::array();
  const double total = totalTime(report);
  for (const OperationCost& cost : report.operations)
    json["ops"].push_back(operationJson(cost, *report.module, total));
  json["statistics"] = statisticsJson(report.statistics, StatisticsPart::Values);
  json["metadata"] = report.result ? OrderedJson(report.result->metadata) : OrderedJson();
  return json;
}

std::string toText(const EstimateReport& report, size_t top) {
  std::string text =
      report.name + " on " + report.point.hardware + " by " + report.point.estimator + "\n\n";
  if (!report.operations.empty())
    text += operationTable(report, top);
  if (report.result)
    addTotals(text, report);
  if (report.module)
    addLine(text, "fits memory", fitsText(report));
  if (const std::string assumed = assumptionText(allAssumptions(report)); !assumed.empty())
    addLine(text, "assumptions", assumed);
  if (report.result) {
    const std::string statistics = keyStatistics(report.statistics);
    if (!statistics.empty())
      text += '\n' + statistics;
  }
  return text;
}

} // namespace nocturne::tools
