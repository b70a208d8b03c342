#include "tools/report/row_text.h"

#include <algorithm>
#include <map>

#include "engine/number_text.h"
#include "tools/report/escape.h"

namespace nocturne::tools {

namespace {

void appendCsvNumber(std::string& out, const std::optional<double>& value) {
  if (value)
    appendShortest(out, *value);
}

void appendJsonMember(std::string& out, std::string_view key) {
  out += ',';
  appendJsonText(out, key);
  out += ':';
}

std::string oneAssumption(const CountedAssumption& counted) {
  std::string text = counted.assumption.kind + '=' + counted.assumption.value;
  if (counted.count > 1)
    text += " (x" + std::to_string(counted.count) + ')';
  return text;
}

void appendJsonAssumption(std::string& out, const CountedAssumption& counted) {
  out += "{\"kind\":";
  appendJsonText(out, counted.assumption.kind);
  out += ",\"value\":";
  appendJsonText(out, counted.assumption.value);
  out += ",\"location\":";
  appendJsonText(out, counted.assumption.location);
  out += ",\"count\":" + std::to_string(counted.count) + '}';
}

// The failure of a row; null when it has none.
const Failure* failureOf(const ItemRecord* item) {
  return item && item->failure ? &*item->failure : nullptr;
}

bool succeeded(const ItemRecord* item) {
  return item && item->status == ItemStatus::Ok;
}

// The module's assumptions with the row's own behind them.
void appendCsvAssumptions(std::string& out, const ModuleText& module, const Notes& notes) {
  if (notes.assumedRates.empty()) {
    out += module.csvAssumptions; // already escaped
    return;
  }
  std::vector<CountedAssumption> all;
  if (module.facts)
    all = countAssumptions(module.facts->assumptions);
  for (const std::string& rate : notes.assumedRates)
    all.push_back({rateAssumption(rate), 1});
  appendCsv(out, assumptionText(all));
}

void appendJsonAssumptions(std::string& out, const ModuleText& module, const Notes& notes) {
  out += '[';
  out += module.jsonAssumptions;
  bool first = module.jsonAssumptions.empty();
  for (const std::string& rate : notes.assumedRates) {
    if (!first)
      out += ',';
    first = false;
    appendJsonAssumption(out, {rateAssumption(rate), 1});
  }
  out += ']';
}

} // namespace

std::string_view toString(FitsMemory fits) {
  switch (fits) {
  case FitsMemory::Yes:
    return "yes";
  case FitsMemory::No:
    return "no";
  case FitsMemory::Unknown:
    break;
  }
  return "unknown";
}

FitsMemory fitsMemory(const ModuleFacts* facts, double memoryCapacity) {
  if (!facts || memoryCapacity <= 0)
    return FitsMemory::Unknown;
  return facts->peakBytes <= memoryCapacity ? FitsMemory::Yes : FitsMemory::No;
}

std::string_view toString(ItemStatus status) {
  switch (status) {
  case ItemStatus::Ok:
    return "ok";
  case ItemStatus::Failed:
    return "failed";
  case ItemStatus::NotRun:
    break;
  }
  return "not_run";
}

double coverageOf(const ResultRow& row) {
  return row.totalRuns == 0 ? 1.0 : row.coveredRuns / row.totalRuns;
}

std::vector<CountedAssumption> countAssumptions(const std::vector<Assumption>& assumptions) {
  std::vector<CountedAssumption> counted;
  std::map<std::pair<std::string_view, std::string_view>, size_t> places;
  for (const Assumption& assumption : assumptions) {
    const auto [place, isNew] =
        places.try_emplace({assumption.kind, assumption.value}, counted.size());
    if (isNew)
      counted.push_back({assumption, 1});
    else
      ++counted[place->second].count;
  }
  return counted;
}

Assumption rateAssumption(const std::string& elementType) {
  return {"datatype_rate", elementType, ""};
}

std::string assumptionText(const std::vector<CountedAssumption>& assumptions) {
  std::string text;
  for (const CountedAssumption& counted : assumptions) {
    if (!text.empty())
      text += ';';
    text += oneAssumption(counted);
  }
  return text;
}

PointText pointText(const Point& point, const std::vector<std::string>& axisColumns) {
  PointText text;
  text.memoryCapacity = point.memoryCapacity;
  text.csv += ',';
  appendCsv(text.csv, point.estimator);
  text.csv += ',';
  appendCsv(text.csv, point.hardware);
  appendJsonMember(text.json, "estimator");
  appendJsonText(text.json, point.estimator);
  appendJsonMember(text.json, "hardware");
  appendJsonText(text.json, point.hardware);
  for (const std::string& column : axisColumns) {
    text.csv += ',';
    appendJsonMember(text.json, column);
    const auto axis = std::find_if(point.axes.begin(), point.axes.end(),
                                   [&](const auto& entry) { return entry.first == column; });
    if (axis == point.axes.end()) {
      text.json += "null";
      continue;
    }
    appendCsv(text.csv, plainText(axis->second));
    text.json += canonicalJson(axis->second);
  }
  return text;
}

ModuleText moduleText(const std::string& name, const ModuleFacts* facts) {
  ModuleText text;
  text.facts = facts;
  const std::string fingerprint = facts ? facts->fingerprint.hex() : std::string();
  appendCsv(text.csvHead, name);
  text.csvHead += ',' + fingerprint;
  text.jsonHead = "{\"module\":";
  appendJsonText(text.jsonHead, name);
  appendJsonMember(text.jsonHead, "fingerprint");
  if (!facts) {
    text.jsonHead += "null";
    text.csvCollectives = ",,";
    text.jsonCollectives = ",\"collectives\":null,\"collective_bytes\":null";
    return text;
  }
  appendJsonText(text.jsonHead, fingerprint);
  text.csvCollectives = ',' + shortest(facts->collectives) + ',' + shortest(facts->collectiveBytes);
  appendJsonMember(text.jsonCollectives, "collectives");
  appendJsonNumber(text.jsonCollectives, facts->collectives);
  appendJsonMember(text.jsonCollectives, "collective_bytes");
  appendJsonNumber(text.jsonCollectives, facts->collectiveBytes);
  const std::vector<CountedAssumption> counted = countAssumptions(facts->assumptions);
  appendCsv(text.csvAssumptions, assumptionText(counted));
  for (const CountedAssumption& assumption : counted) {
    if (!text.jsonAssumptions.empty())
      text.jsonAssumptions += ',';
    appendJsonAssumption(text.jsonAssumptions, assumption);
  }
  return text;
}

std::string csvHeader(const std::vector<std::string>& axisColumns) {
  std::string header = "module,fingerprint,estimator,hardware";
  for (const std::string& column : axisColumns) {
    header += ',';
    appendCsv(header, column);
  }
  return header + ",status,runtime_s,flops,bytes,collectives,collective_bytes,coverage,"
                  "fits_memory,assumptions,failure,message\n";
}

void appendCsvRow(std::string& out, const ModuleText& module, const PointText& point,
                  const ItemRecord* item, const Notes& notes) {
  out += module.csvHead;
  out += point.csv;
  out += ',';
  out += toString(item ? item->status : ItemStatus::NotRun);
  out += ',';
  if (succeeded(item)) {
    appendCsvNumber(out, item->result.runtime);
    out += ',';
    appendShortest(out, item->result.flops);
    out += ',';
    appendShortest(out, item->result.bytes);
  } else {
    out += ",,";
  }
  out += module.csvCollectives;
  out += ',';
  if (succeeded(item))
    appendShortest(out, coverageOf(item->result));
  out += ',';
  out += toString(fitsMemory(module.facts, point.memoryCapacity));
  out += ',';
  appendCsvAssumptions(out, module, notes);
  out += ',';
  if (const Failure* failure = failureOf(item)) {
    out += toString(failure->kind);
    out += ',';
    appendCsv(out, failure->text());
  } else {
    out += ',';
  }
  out += '\n';
}

void appendJsonRow(std::string& out, const ModuleText& module, const PointText& point,
                   const ItemRecord* item, const Notes& notes) {
  out += module.jsonHead;
  out += point.json;
  out += ",\"status\":\"";
  out += toString(item ? item->status : ItemStatus::NotRun);
  out += "\",\"runtime_s\":";
  if (succeeded(item)) {
    appendJsonNumber(out, item->result.runtime);
    out += ",\"flops\":";
    appendJsonNumber(out, item->result.flops);
    out += ",\"bytes\":";
    appendJsonNumber(out, item->result.bytes);
  } else {
    out += "null,\"flops\":null,\"bytes\":null";
  }
  out += module.jsonCollectives;
  out += ",\"coverage\":";
  if (succeeded(item))
    appendJsonNumber(out, coverageOf(item->result));
  else
    out += "null";
  out += ",\"fits_memory\":\"";
  out += toString(fitsMemory(module.facts, point.memoryCapacity));
  out += "\",\"assumptions\":";
  appendJsonAssumptions(out, module, notes);
  const Failure* failure = failureOf(item);
  out += ",\"failure\":";
  appendJsonFailure(out, failure);
  out += ",\"message\":";
  if (failure)
    appendJsonText(out, failure->text());
  else
    out += "null";
  out += "}\n";
}

void appendJsonFailure(std::string& out, const Failure* failure) {
  if (!failure) {
    out += "null";
    return;
  }
  out += "{\"kind\":";
  appendJsonText(out, toString(failure->kind));
  out += ",\"message\":";
  appendJsonText(out, failure->message);
  out += ",\"file\":";
  appendJsonText(out, failure->file);
  out += ",\"line\":" + std::to_string(failure->line);
  out += ",\"column\":" + std::to_string(failure->column) + '}';
}

} // namespace nocturne::tools
