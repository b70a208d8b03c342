#include <algorithm>
#include <filesystem>
#include <optional>
#include <unordered_set>

#include "engine/grid.h"
#include "engine/json_text.h"
#include "engine/machine_names.h"
#include "engine/machine_schema.h"
#include "engine/module_patterns.h"
#include "engine/plan_checks.h"
#include "engine/sweep_plan.h"

namespace fs = std::filesystem;

namespace nocturne {

namespace {

using KeyOrder = std::map<std::string, std::vector<std::string>>;

std::string joined(const std::string& directory, const std::string& path) {
  return directory.empty() || directory == "." ? path : (fs::path(directory) / path).string();
}

void checkKeys(const Json& object, const std::vector<std::string>& keys, const std::string& what,
               const std::string& pointer) {
  if (!object.is_object())
    throw UsageError("expected " + what + " (an object), not " + excerpt(object), pointer);
  for (const auto& [key, value] : object.items())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      throw UsageError(what + " has no key \"" + key + '"' + didYouMean(key, keys),
                       childPointer(pointer, key));
}

const Json& entriesOf(const Json& array, const char* what, const std::string& pointer) {
  if (!array.is_array() || array.empty())
    throw UsageError(std::string("expected an array of ") + what + ", not " + excerpt(array),
                     pointer);
  return array;
}

// The machine of a plan that names none: for estimators that measure where they run.
HardwareEntry noMachine() {
  HardwareEntry entry;
  entry.base = {"none", Json::object()};
  entry.nameTemplate = "none";
  return entry;
}

EstimatorEntry plainEstimator(const std::string& name) {
  EstimatorEntry entry;
  entry.name = name;
  return entry;
}

void checkEstimatorName(const EstimatorEntry& entry, const PlanSources& sources,
                        const std::string& pointer) {
  if (!sources.estimators(entry.name))
    throw UsageError("there is no estimator \"" + entry.name + '"' +
                         didYouMean(entry.name, sources.estimatorNames),
                     pointer);
}

void addOnce(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  for (const std::string& note : more)
    if (std::find(notes.begin(), notes.end(), note) == notes.end())
      notes.push_back(note);
}

// Reads one specification; every message says where it is in it.
class SpecificationReader {
public:
  SpecificationReader(const KeyOrder& order, const std::string& directory,
                      const PlanSources& sources)
      : order_(order), directory_(directory), sources_(sources) {}

  SweepPlan read(const Json& specification) {
    checkKeys(specification,
              {"modules", "estimators", "hardware", "plugins", "assume", "output_dir", "cache_dir",
               "disable_cache", "in_memory_only_cache"},
              "a specification", "");
    for (const char* key : {"modules", "estimators"})
      if (!specification.contains(key))
        throw UsageError(std::string("the specification has no \"") + key + '"');
    SweepPlan plan;
    readSettings(specification, plan);
    readEstimators(specification.at("estimators"), plan);
    if (specification.contains("hardware"))
      readHardware(specification.at("hardware"), plan);
    else
      plan.hardware.push_back(noMachine());
    plan.validate(sources_.estimators);
    plan.index();
    addOnce(plan.notes, remarks(plan, sources_.estimators));
    // Last, because walking folders takes longest.
    readModules(specification.at("modules"), plan);
    return plan;
  }

private:
  // The value of an optional key, checked.
  std::optional<Json> setting(const Json& object, const char* key, const OptionValidator& validate,
                              const std::string& pointer) {
    auto value = object.find(key);
    if (value == object.end())
      return std::nullopt;
    return atPointer(childPointer(pointer, key), [&] { return validate(*value); });
  }

  void readSettings(const Json& specification, SweepPlan& plan) {
    auto path = [&](const char* key, const std::string& fallback) {
      std::optional<Json> text = setting(specification, key, option::text, "");
      if (text && text->get_ref<const std::string&>().empty())
        throw UsageError("expected a folder", childPointer("", key));
      return text ? joined(directory_, text->get<std::string>()) : fallback;
    };
    plan.outputDir = path("output_dir", joined(directory_, "out"));
    plan.cacheDir = path("cache_dir", joined(plan.outputDir, "cache"));
    plan.cacheMode = readCacheMode(specification);
    if (specification.contains("assume"))
      readAssumptions(specification.at("assume"), plan.assume);
  }

  CacheMode readCacheMode(const Json& specification) {
    auto isSet = [&](const char* key) {
      return setting(specification, key, option::boolean, "").value_or(false).get<bool>();
    };
    bool disabled = isSet("disable_cache"), inMemory = isSet("in_memory_only_cache");
    if (disabled && inMemory)
      throw UsageError("disable_cache and in_memory_only_cache exclude each other",
                       "/in_memory_only_cache");
    return disabled ? CacheMode::Disabled : inMemory ? CacheMode::InMemory : CacheMode::OnDisk;
  }

  void readAssumptions(const Json& json, Assumptions& assume) {
    const std::string pointer = "/assume";
    checkKeys(json, {"trip_count", "branch", "entry"}, "\"assume\"", pointer);
    if (auto trips = setting(json, "trip_count", option::nonNegative, pointer))
      assume.tripCount = trips->get<double>();
    if (auto branch = setting(json, "branch", option::oneOf({"largest", "first", "mean"}), pointer))
      assume.branch = branch->get<std::string>();
    if (auto entry = setting(json, "entry", option::text, pointer)) {
      assume.entry = entry->get<std::string>();
      if (assume.entry.empty())
        throw UsageError("expected the name of a function", childPointer(pointer, "entry"));
    }
  }

  std::vector<Axis> readGrid(const Json& entry, const std::string& entryPointer) {
    std::vector<Axis> grid;
    if (!entry.contains("grid"))
      return grid;
    std::string pointer = childPointer(entryPointer, "grid");
    const Json& json = entry.at("grid");
    if (!json.is_object())
      throw UsageError("expected an object of axes, not " + excerpt(json), pointer);
    auto order = order_.find(pointer);
    std::vector<std::string> paths;
    if (order != order_.end() && order->second.size() == json.size())
      paths = order->second;
    else
      for (const auto& [path, values] : json.items())
        paths.push_back(path);
    for (const std::string& path : paths)
      grid.push_back({path, axisValues(json.at(path), childPointer(pointer, path))});
    combinations(grid, pointer);
    return grid;
  }

  void readEstimators(const Json& json, SweepPlan& plan) {
    size_t index = 0;
    for (const Json& item : entriesOf(json, "estimators", "/estimators")) {
      std::string pointer = childPointer("/estimators", index++);
      EstimatorEntry entry;
      if (item.is_string()) {
        entry = plainEstimator(item.get<std::string>());
        checkEstimatorName(entry, sources_, pointer);
      } else {
        checkKeys(item, {"name", "set", "grid"}, "an estimator", pointer);
        std::optional<Json> name = setting(item, "name", option::text, pointer);
        if (!name)
          throw UsageError("the estimator has no \"name\"", pointer);
        entry.name = name->get<std::string>();
        checkEstimatorName(entry, sources_, childPointer(pointer, "name"));
        entry.set = item.value("set", Json::object());
        entry.grid = readGrid(item, pointer);
      }
      entry.pointer = pointer;
      plan.estimators.push_back(std::move(entry));
    }
  }

  Machine findMachine(const std::string& name, const std::string& pointer, SweepPlan& plan) {
    std::vector<std::string> notes;
    Machine machine =
        atPointer(pointer, [&] { return sources_.machines.find(name, directory_, notes); });
    addOnce(plan.notes, notes);
    return machine;
  }

  Machine readBase(const Json& item, const std::string& pointer, SweepPlan& plan) {
    if (!item.contains("base")) {
      for (const char* key : {"set", "grid"})
        if (item.contains(key))
          throw UsageError(std::string("\"") + key + "\" needs a \"base\" to change", pointer);
      Machine machine = parseMachine(item, pointer);
      if (machine.name.empty())
        throw UsageError("the machine has no \"name\"", pointer);
      return machine;
    }
    checkKeys(item, {"base", "name", "set", "grid"}, "a machine with a base", pointer);
    std::string place = childPointer(pointer, "base");
    if (item.at("base").is_string())
      return findMachine(item.at("base").get<std::string>(), place, plan);
    Machine machine = parseMachine(item.at("base"), place);
    if (machine.name.empty())
      machine.name = "machine";
    return machine;
  }

  HardwareEntry readMachine(const Json& item, const std::string& pointer, SweepPlan& plan) {
    HardwareEntry entry;
    entry.pointer = pointer;
    if (item.is_string()) {
      entry.base = findMachine(item.get<std::string>(), pointer, plan);
      entry.nameTemplate = entry.base.name;
      return entry;
    }
    if (!item.is_object())
      throw UsageError("expected a machine's name or an object, not " + excerpt(item), pointer);
    entry.base = readBase(item, pointer, plan);
    if (item.contains("base")) {
      entry.set = item.value("set", Json::object());
      entry.grid = readGrid(item, pointer);
      normaliseEntry(entry);
    }
    std::optional<Json> name = setting(item, "name", option::text, pointer);
    if (name && name->get_ref<const std::string&>().empty())
      throw UsageError("the name is empty", childPointer(pointer, "name"));
    entry.nameTemplate = name ? name->get<std::string>() : defaultNameTemplate(entry);
    return entry;
  }

  void readHardware(const Json& json, SweepPlan& plan) {
    size_t index = 0;
    for (const Json& item : entriesOf(json, "machines", "/hardware"))
      plan.hardware.push_back(readMachine(item, childPointer("/hardware", index++), plan));
  }

  void readModules(const Json& json, SweepPlan& plan) {
    std::unordered_set<std::string> seen;
    size_t index = 0;
    for (const Json& item : entriesOf(json, "files and patterns", "/modules")) {
      std::vector<ModuleFile> files = atPointer(childPointer("/modules", index++), [&] {
        return expandPattern(option::text(item).get<std::string>(), directory_);
      });
      for (ModuleFile& file : files)
        if (seen.insert(file.name).second)
          plan.modules.push_back(std::move(file));
    }
  }

  const KeyOrder& order_;
  const std::string& directory_;
  const PlanSources& sources_;
};

} // namespace

std::vector<std::string> pluginsOf(const std::string& path) {
  const Json json = parseJsonText(readTextFile(path), path).value;
  std::vector<std::string> plugins;
  if (!json.is_object() || !json.contains("plugins"))
    return plugins;
  const std::string directory = fs::path(path).parent_path().string();
  try {
    size_t index = 0;
    for (const Json& item : entriesOf(json.at("plugins"), "files", "/plugins")) {
      const std::string pointer = childPointer("/plugins", index++);
      const Json text = atPointer(pointer, [&] { return option::text(item); });
      plugins.push_back(joined(directory, text.get<std::string>()));
    }
  } catch (const UsageError& error) {
    throw error.inFile(path);
  }
  return plugins;
}

SweepPlan planFromFile(const std::string& path, const PlanSources& sources) {
  ParsedJson parsed = parseJsonText(readTextFile(path), path);
  std::string folder = fs::path(path).parent_path().string();
  std::string directory = folder.empty() ? "." : folder;
  try {
    return SpecificationReader(parsed.keyOrder, directory, sources).read(parsed.value);
  } catch (const UsageError& error) {
    throw error.inFile(path);
  }
}

SweepPlan planFromJson(const Json& specification, const std::string& directory,
                       const PlanSources& sources) {
  return SpecificationReader(KeyOrder(), directory, sources).read(specification);
}

SweepPlan planFromArguments(const std::vector<std::string>& paths,
                            const std::vector<std::string>& machines,
                            const std::vector<std::string>& estimators,
                            const PlanSources& sources) {
  SweepPlan plan;
  for (const std::string& name : estimators) {
    plan.estimators.push_back(plainEstimator(name));
    checkEstimatorName(plan.estimators.back(), sources, "");
  }
  for (const std::string& name : machines) {
    std::vector<std::string> notes;
    HardwareEntry entry;
    entry.base = sources.machines.find(name, ".", notes);
    entry.nameTemplate = entry.base.name;
    plan.hardware.push_back(std::move(entry));
    addOnce(plan.notes, notes);
  }
  if (machines.empty())
    plan.hardware.push_back(noMachine());
  checkEntries(plan, sources.estimators);
  plan.index();
  addOnce(plan.notes, remarks(plan, sources.estimators));
  plan.modules = expandModules(paths, ".");
  return plan;
}

} // namespace nocturne
