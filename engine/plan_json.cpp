// A plan as JSON, machines embedded, and its identity.
#include "engine/json_text.h"
#include "engine/machine_schema.h"
#include "engine/sweep_plan.h"

namespace nocturne {

namespace {

constexpr int64_t kFormat = 1;
const std::vector<std::string>& cacheModes() {
  static const std::vector<std::string> names = {"on_disk", "in_memory", "disabled"};
  return names;
}

Json gridJson(const std::vector<Axis>& grid) {
  Json json = Json::array(); // a list, because an object would lose the order
  for (const Axis& axis : grid)
    json.push_back({{"path", axis.path}, {"values", axis.values}});
  return json;
}

Json entryJson(const EstimatorEntry& entry) {
  return {{"name", entry.name},
          {"set", entry.set},
          {"grid", gridJson(entry.grid)},
          {"pointer", entry.pointer}};
}

Json entryJson(const HardwareEntry& entry) {
  return {{"base", {{"name", entry.base.name}, {"values", entry.base.values}}},
          {"name", entry.nameTemplate},
          {"set", entry.set},
          {"grid", gridJson(entry.grid)},
          {"pointer", entry.pointer}};
}

template <typename Entry>
Json entriesJson(const std::vector<Entry>& entries) {
  Json json = Json::array();
  for (const Entry& entry : entries)
    json.push_back(entryJson(entry));
  return json;
}

Json assumptionsJson(const Assumptions& assume) {
  return {{"trip_count", assume.tripCount}, {"branch", assume.branch}, {"entry", assume.entry}};
}

std::vector<Axis> gridFrom(const Json& json) {
  std::vector<Axis> grid;
  for (const Json& axis : json)
    grid.push_back(
        {axis.at("path").get<std::string>(), axis.at("values").get<std::vector<Json>>()});
  return grid;
}

EstimatorEntry estimatorFrom(const Json& json) {
  return {json.at("name").get<std::string>(), json.at("set"), gridFrom(json.at("grid")),
          json.at("pointer").get<std::string>()};
}

HardwareEntry hardwareFrom(const Json& json) {
  const Json& base = json.at("base");
  return {{base.at("name").get<std::string>(), base.at("values")},
          json.at("name").get<std::string>(),
          json.at("set"),
          gridFrom(json.at("grid")),
          json.at("pointer").get<std::string>()};
}

Assumptions assumptionsFrom(const Json& json) {
  return {json.at("trip_count").get<double>(), json.at("branch").get<std::string>(),
          json.at("entry").get<std::string>()};
}

template <typename Enum>
Enum enumFrom(const Json& json, const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i)
    if (json == names[i])
      return static_cast<Enum>(i);
  throw UsageError("this is no plan: " + excerpt(json) + " is unknown");
}

SweepPlan planFrom(const Json& json) {
  if (json.at("format") != kFormat)
    throw UsageError("this is no plan of this version");
  SweepPlan plan;
  for (const Json& entry : json.at("estimators"))
    plan.estimators.push_back(estimatorFrom(entry));
  for (const Json& entry : json.at("hardware"))
    plan.hardware.push_back(hardwareFrom(entry));
  plan.assume = assumptionsFrom(json.at("assume"));
  plan.outputDir = json.at("output_dir").get<std::string>();
  plan.cacheDir = json.at("cache_dir").get<std::string>();
  plan.cacheMode = enumFrom<CacheMode>(json.at("cache_mode"), cacheModes());
  plan.notes = json.at("notes").get<std::vector<std::string>>();
  plan.index();
  return plan;
}

} // namespace

Json SweepPlan::toJson() const {
  return {{"format", kFormat},
          {"estimators", entriesJson(estimators)},
          {"hardware", entriesJson(hardware)},
          {"assume", assumptionsJson(assume)},
          {"output_dir", outputDir},
          {"cache_dir", cacheDir},
          {"cache_mode", cacheModes().at(static_cast<size_t>(cacheMode))},
          {"notes", notes}};
}

SweepPlan SweepPlan::fromJson(const Json& json) {
  try {
    return planFrom(json);
  } catch (const Json::exception& error) {
    throw UsageError(std::string("this is no plan: ") + error.what());
  }
}

Digest SweepPlan::digest() const {
  Json asked = {{"format", kFormat},
                {"assume", assumptionsJson(assume)},
                {"estimators", Json::array()},
                {"hardware", Json::array()}};
  for (const EstimatorEntry& entry : estimators)
    asked["estimators"].push_back({entry.name, entry.set, gridJson(entry.grid)});
  for (const HardwareEntry& entry : hardware)
    asked["hardware"].push_back(
        {entry.nameTemplate, machineNumbers(entry.base), entry.set, gridJson(entry.grid)});
  Hasher hasher;
  hasher.field("nocturne plan").field(canonicalJson(asked));
  hasher.number(modules.size());
  for (const ModuleFile& module : modules)
    hasher.field(module.name);
  return hasher.finish();
}

} // namespace nocturne
