#include "engine/plan_checks.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "engine/json_text.h"
#include "engine/machine_schema.h"
#include "engine/option_lookup.h"

namespace nocturne {

namespace {

constexpr std::string_view kPeak = "peak_flops";

// What an estimator has as an option, for use outside sweeps, and a sweep decides for all of its
// estimators: the key of the specification and the flag of the command line.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kCacheSettings = {
    {{"cache_dir", "--cache-dir"},
     {"disable_cache", "--disable-cache"},
     {"in_memory_only_cache", "--in-memory-only-cache"}}};

// "" has no children: what comes from the command line has no place in a file.
std::string below(const std::string& pointer, const char* key) {
  return pointer.empty() ? "" : childPointer(pointer, key);
}

bool isPathOrBelow(std::string_view path, std::string_view head) {
  return path.starts_with(head) && (path.size() == head.size() || path[head.size()] == '.');
}

void refuseCacheOption(std::string_view path, const std::string& pointer) {
  if (std::string problem = cacheOptionProblem(path); !problem.empty())
    throw UsageError(problem, pointer);
}

// `values` are the checked values, so that 1 and "1" are found to be one.
void checkDistinct(const std::vector<Json>& values, const std::string& pointer) {
  std::set<std::string> seen;
  for (size_t i = 0; i < values.size(); ++i)
    if (!seen.insert(canonicalJson(values[i])).second)
      throw UsageError("the value " + excerpt(values[i]) + " appears twice on this axis",
                       childPointer(pointer, i));
}

void checkAxisNotSet(const Axis& axis, const Json& set, const std::string& pointer) {
  for (const auto& [path, value] : set.items())
    if (path == axis.path)
      throw UsageError('"' + path + "\" is both set and an axis", pointer);
}

void checkSet(const OptionSchema& root, const OptionSchema& level, const Json& set,
              const std::string& pointer) {
  for (const auto& [key, value] : set.items()) {
    std::string place = childPointer(pointer, key);
    auto nested = level.nested.find(key);
    if (nested != level.nested.end()) {
      if (!value.is_object())
        throw UsageError("expected an object of options, not " + excerpt(value), place);
      checkSet(root, nested->second, value, place);
    } else if (!hasPath(level, key)) {
      throw UsageError("there is no option \"" + key + '"' + suggestOption(root, level, key),
                       place);
    } else if (!value.is_null()) {
      const Json& checked = value;
      FoundOption found = findOption(level, key);
      atPointer(place, [&] { return checkedValue(found, checked); });
    }
  }
}

// The path of the option that takes `hardwareKey`, "" when none does.
std::string pathOfHardwareKey(const OptionSchema& schema, std::string_view hardwareKey) {
  for (const ConfigOption& option : schema.options)
    if (option.hardwareKey == hardwareKey)
      return option.name;
  for (const auto& [name, nested] : schema.nested)
    if (std::string path = pathOfHardwareKey(nested, hardwareKey); !path.empty())
      return name + '.' + path;
  return "";
}

// Sets an option. A path into a table that the machine offers changes one entry of that table.
void give(Json& given, const std::string& path, const Json& value,
          const EstimatorDescription& estimator, const Json& machine) {
  if (path.find('.') != std::string::npos) {
    FoundOption found = findOption(estimator.options, path);
    if (found.option && !found.tableKey.empty()) {
      std::string tablePath = path.substr(0, path.size() - found.tableKey.size() - 1);
      Json::json_pointer place("");
      for (size_t start = 0; start <= tablePath.size();) {
        size_t dot = std::min(tablePath.find('.', start), tablePath.size());
        place /= tablePath.substr(start, dot - start);
        start = dot + 1;
      }
      auto table = machine.is_object() ? machine.find(found.option->hardwareKey) : machine.end();
      if (!given.contains(place) && machine.is_object() && table != machine.end())
        setAtPath(given, tablePath, *table);
    }
  }
  setAtPath(given, path, value);
}

bool touches(const HardwareEntry& entry, std::string_view head) {
  for (const auto& [path, value] : entry.set.items())
    if (isPathOrBelow(path, head))
      return true;
  return std::any_of(entry.grid.begin(), entry.grid.end(),
                     [&](const Axis& axis) { return isPathOrBelow(axis.path, head); });
}

void checkPeak(const HardwareEntry& entry) {
  auto table = entry.base.values.find(kRateTable);
  bool hasTable = table != entry.base.values.end() && !table->empty();
  if (!hasTable || !touches(entry, kPeak) || touches(entry, kRateTable))
    return;
  bool isSet = entry.set.contains(kPeak);
  throw UsageError("peak_flops alone would change little: " + entry.base.name +
                       " has a rate for each type in per_datatype_flops; use \"compute_scale\", "
                       "which multiplies them all, or change per_datatype_flops too",
                   below(below(entry.pointer, isSet ? "set" : "grid"), "peak_flops"));
}

} // namespace

std::string cacheOptionProblem(std::string_view path) {
  for (auto [key, flag] : kCacheSettings)
    if (path == key)
      return "a sweep has one cache for all of its estimators; \"" + std::string(key) +
             "\" at the top of the specification or " + std::string(flag) +
             " of nocturne sweep decides about it";
  return "";
}

void checkEntry(const EstimatorEntry& entry, const EstimatorDescription& estimator) {
  std::string setPointer = below(entry.pointer, "set");
  if (!entry.set.is_object())
    throw UsageError("expected an object of options, not " + excerpt(entry.set), setPointer);
  for (const auto& [key, value] : entry.set.items())
    refuseCacheOption(key, childPointer(setPointer, key));
  checkSet(estimator.options, estimator.options, entry.set, setPointer);
  for (const Axis& axis : entry.grid) {
    std::string place = childPointer(below(entry.pointer, "grid"), axis.path);
    refuseCacheOption(axis.path, place);
    if (!hasPath(estimator.options, axis.path))
      throw UsageError("there is no option \"" + axis.path + '"' +
                           suggestOption(estimator.options, estimator.options, axis.path),
                       place);
    checkAxisNotSet(axis, entry.set, place);
    FoundOption found = findOption(estimator.options, axis.path);
    std::vector<Json> checked;
    for (size_t i = 0; i < axis.values.size(); ++i)
      checked.push_back(
          atPointer(childPointer(place, i), [&] { return checkedValue(found, axis.values[i]); }));
    checkDistinct(checked, place);
  }
}

void normaliseEntry(HardwareEntry& entry) {
  std::string setPointer = below(entry.pointer, "set"), gridPointer = below(entry.pointer, "grid");
  if (!entry.set.is_object())
    throw UsageError("expected an object of machine values, not " + excerpt(entry.set), setPointer);
  for (auto& [path, value] : entry.set.items()) {
    const std::string& key = path;
    Json& stored = value;
    stored = atPointer(childPointer(setPointer, key), [&] {
      checkMachinePath(key, false);
      return checkedMachineValue(key, stored);
    });
  }
  for (Axis& axis : entry.grid) {
    std::string place = childPointer(gridPointer, axis.path);
    atPointer(place, [&] { checkMachinePath(axis.path, true); });
    checkAxisNotSet(axis, entry.set, place);
    for (size_t i = 0; i < axis.values.size(); ++i)
      axis.values[i] = atPointer(childPointer(place, i),
                                 [&] { return checkedMachineValue(axis.path, axis.values[i]); });
    checkDistinct(axis.values, place);
  }
  checkPeak(entry);
}

Json machineAt(const HardwareEntry& entry, const std::vector<size_t>& places) {
  Machine machine{"", machineNumbers(entry.base)};
  for (const auto& [path, value] : entry.set.items())
    setAtPath(machine.values, path, value);
  for (size_t i = 0; i < entry.grid.size(); ++i)
    setAtPath(machine.values, entry.grid[i].path, entry.grid[i].values[places[i]]);
  applyScales(machine);
  return std::move(machine.values);
}

Json givenAt(const EstimatorEntry& entry, const std::vector<size_t>& places,
             const EstimatorDescription& estimator, const Json& machine) {
  Json given = Json::object();
  for (const auto& [path, value] : entry.set.items())
    give(given, path, value, estimator, machine);
  for (size_t i = 0; i < entry.grid.size(); ++i)
    give(given, entry.grid[i].path, entry.grid[i].values[places[i]], estimator, machine);
  return given;
}

Json resolvedAt(const EstimatorEntry& entry, const std::vector<size_t>& places,
                const EstimatorDescription& estimator, const Json& machine,
                const std::string& machineName) {
  Json given = givenAt(entry, places, estimator, machine);
  try {
    return resolveOptions(estimator.options, given, machine, "");
  } catch (const UsageError& error) {
    throw UsageError("estimator " + entry.name + " on machine " + machineName + ": " + error.what(),
                     entry.pointer);
  }
}

std::vector<std::string> remarks(const SweepPlan& plan, const EstimatorLookup& lookup) {
  std::vector<std::string> out;
  bool anyTable = std::any_of(plan.hardware.begin(), plan.hardware.end(), [](const auto& entry) {
    return entry.base.values.contains(kRateTable);
  });
  for (const EstimatorEntry& entry : plan.estimators) {
    const EstimatorDescription* estimator = lookup(entry.name);
    if (!estimator || !anyTable)
      continue;
    std::string peak = pathOfHardwareKey(estimator->options, kPeak);
    std::string table = pathOfHardwareKey(estimator->options, kRateTable);
    std::vector<size_t> first(entry.grid.size());
    Json given = givenAt(entry, first, *estimator, Json());
    auto isGiven = [&](std::string path) {
      std::replace(path.begin(), path.end(), '.', '/');
      return given.contains(Json::json_pointer('/' + path));
    };
    if (!peak.empty() && !table.empty() && isGiven(peak) && !isGiven(table))
      out.push_back("estimator " + entry.name + ": " + peak +
                    " is used only for types without a rate in the machine's per_datatype_flops; "
                    "set " +
                    table + " as well to replace those");
  }
  return out;
}

} // namespace nocturne
