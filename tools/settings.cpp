#include "tools/settings.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <system_error>

#include "engine/plan_checks.h"
#include "estimators/plugin_loader.h"

namespace nocturne::tools {

namespace {

struct Setting {
  std::string key;
  Json value;
};

Setting parseSetting(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw UsageError("--set takes KEY=VALUE, not \"" + text + "\"");
  const std::string value = text.substr(equals + 1);
  Json parsed = Json::parse(value, nullptr, false);
  return {text.substr(0, equals), parsed.is_discarded() ? Json(value) : std::move(parsed)};
}

bool isMachineKey(const std::string& key) {
  if (key == "compute_scale" || key == "bandwidth_scale")
    return true;
  const std::string head = key.substr(0, key.find('.'));
  const auto& keys = machineKeys();
  return std::find(keys.begin(), keys.end(), head) != keys.end();
}

[[noreturn]] void throwUnknown(const std::string& key, const SweepPlan& plan,
                               const EstimatorLookup& estimators) {
  std::vector<std::string> known = machineKeys();
  known.insert(known.end(), {"compute_scale", "bandwidth_scale"});
  for (const EstimatorEntry& entry : plan.estimators)
    if (const EstimatorDescription* description = estimators(entry.name))
      for (std::string& path : optionPaths(description->options))
        known.push_back(std::move(path));
  throw UsageError("--set: neither the estimators nor the machines have \"" + key + "\"" +
                   didYouMean(key, known));
}

// An estimator that sets a machine's value for itself would not see a change of the machine.
void applyToMachines(SweepPlan& plan, const Setting& setting) {
  for (HardwareEntry& entry : plan.hardware)
    entry.set[setting.key] = setting.value;
  for (EstimatorEntry& entry : plan.estimators)
    if (entry.set.contains(setting.key))
      entry.set[setting.key] = setting.value;
}

bool applyToEstimators(SweepPlan& plan, const Setting& setting, const EstimatorLookup& estimators) {
  bool taken = false;
  for (EstimatorEntry& entry : plan.estimators) {
    const EstimatorDescription* description = estimators(entry.name);
    if (!description || !hasPath(description->options, setting.key))
      continue;
    entry.set[setting.key] = setting.value;
    taken = true;
  }
  return taken;
}

EstimatorRegistry registered(std::shared_ptr<KernelBuilder> kernels,
                             const std::vector<std::string>& plugins) {
  EstimatorRegistry registry(std::move(kernels));
  registerBuiltins(registry);
  // A specification and the command line may both name one.
  std::set<std::string> loaded;
  for (const std::string& plugin : plugins) {
    std::error_code error;
    const std::string file = std::filesystem::weakly_canonical(plugin, error).string();
    if (error || loaded.insert(file).second)
      loadPlugin(plugin, registry);
  }
  return registry;
}

} // namespace

void applySettings(SweepPlan& plan, const std::vector<std::string>& settings,
                   const EstimatorLookup& estimators) {
  for (const std::string& text : settings) {
    const Setting setting = parseSetting(text);
    if (std::string problem = cacheOptionProblem(setting.key); !problem.empty())
      throw UsageError("--set " + setting.key + ": " + problem);
    if (isMachineKey(setting.key))
      applyToMachines(plan, setting);
    else if (!applyToEstimators(plan, setting, estimators))
      throwUnknown(setting.key, plan, estimators);
  }
  plan.index();
}

void applyAssumptions(SweepPlan& plan, const AssumeArguments& arguments) {
  if (arguments.entry)
    plan.assume.entry = *arguments.entry;
  if (arguments.tripCount) {
    if (!(*arguments.tripCount >= 0) || !std::isfinite(*arguments.tripCount))
      throw UsageError("--trip-count: expected a number that is not negative");
    plan.assume.tripCount = *arguments.tripCount;
  }
  if (arguments.branch) {
    static const std::vector<std::string> branches = {"largest", "first", "mean"};
    if (std::find(branches.begin(), branches.end(), *arguments.branch) == branches.end())
      throw UsageError("--branch: there is no \"" + *arguments.branch +
                       "\", only largest, first and mean" +
                       didYouMean(*arguments.branch, branches));
    plan.assume.branch = *arguments.branch;
  }
}

PlanInputs::PlanInputs(const std::vector<std::string>& plugins)
    : kernels_(std::make_shared<compiler::ModuleMeasurer>()),
      registry_(registered(kernels_, plugins)), machines_(defaultConfigDirectory()) {}

PlanSources PlanInputs::sources() const {
  PlanSources sources{machines_, registry_.lookup()};
  for (const EstimatorDescription* description : registry_.all())
    sources.estimatorNames.push_back(description->name);
  return sources;
}

} // namespace nocturne::tools
