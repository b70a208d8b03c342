// Turns what stands on the command line into changes of a plan.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/execution/measurer.h"
#include "engine/sweep_plan.h"
#include "estimators/registry.h"
#include "tools/arguments.h"

namespace nocturne::tools {

// Applies "key=value" settings. A key that is a value of machines ("memory_bandwidth",
// "per_datatype_flops.bf16"), compute_scale or bandwidth_scale changes each machine; any other is
// an option path of estimators and changes those that have it. A value is JSON where it parses as
// such, else text. Throws UsageError for a key that neither has.
void applySettings(SweepPlan& plan, const std::vector<std::string>& settings,
                   const EstimatorLookup& estimators);
// Throws UsageError for values out of range.
void applyAssumptions(SweepPlan& plan, const AssumeArguments& arguments);

// What plans are made from: the presets, and the estimators that are built in or from plug-ins.
class PlanInputs {
public:
  // Loads the plug-ins. Throws UsageError.
  explicit PlanInputs(const std::vector<std::string>& plugins = {});
  PlanSources sources() const;
  // Which estimators measure with.
  compiler::ModuleMeasurer& kernels() const { return *kernels_; }
  const EstimatorRegistry& registry() const { return registry_; }
  const MachineCatalog& machines() const { return machines_; }

private:
  std::shared_ptr<compiler::ModuleMeasurer> kernels_;
  EstimatorRegistry registry_;
  MachineCatalog machines_;
};

} // namespace nocturne::tools
