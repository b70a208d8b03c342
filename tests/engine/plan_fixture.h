// Estimators for the tests of planning.
#pragma once

#include <map>
#include <string>

#include "engine/sweep_plan.h"
#include "tests/support/scratch_dir.h"

namespace nocturne::test {

inline OptionSchema rooflineOptions() {
  ConfigOption peak{
      .name = "peak_flops", .validate = option::positive, .hardwareKey = "peak_flops"};
  ConfigOption bandwidth{
      .name = "memory_bandwidth", .validate = option::positive, .hardwareKey = "memory_bandwidth"};
  ConfigOption table{.name = "per_datatype_flops",
                     .validate = option::positiveTable,
                     .optional = true,
                     .hardwareKey = "per_datatype_flops"};
  ConfigOption efficiency{
      .name = "compute_efficiency", .validate = option::fraction, .defaultValue = 1};
  ConfigOption cache{.name = "cache_dir",
                     .validate = option::text,
                     .defaultValue = "cache",
                     .topLevel = true,
                     .influencesResult = false};
  return {{peak, bandwidth, table, efficiency, cache}, {}};
}

// An estimator that extends the other one: its options sit in the sub-object "roofline".
inline OptionSchema systolicOptions() {
  OptionSchema base = rooflineOptions();
  ConfigOption cache = base.options.back();
  base.options.pop_back();
  ConfigOption rows{.name = "rows", .validate = option::positiveInteger};
  ConfigOption columns{.name = "columns", .validate = option::positiveInteger, .defaultValue = 128};
  ConfigOption dataflow{.name = "dataflow",
                        .validate = option::oneOf({"weight_stationary", "output_stationary"}),
                        .defaultValue = "weight_stationary"};
  return {{rows, columns, dataflow, cache}, {{"roofline", base}}};
}

inline const std::map<std::string, EstimatorDescription>& descriptions() {
  static const std::map<std::string, EstimatorDescription> all = [] {
    EstimatorDescription roofline, systolic, cpu, tool, none;
    roofline.name = "roofline";
    roofline.versions = {{"compute", 1}, {"roofline", 1}};
    roofline.options = rooflineOptions();
    systolic.name = "systolic";
    systolic.versions = {{"compute", 1}, {"roofline", 1}, {"systolic", 2}};
    systolic.options = systolicOptions();
    cpu.name = "cpu";
    cpu.unavailable = "no compiler is installed";
    tool.name = "tool";
    tool.unavailable = "there is no program tool in $PATH";
    tool.unavailabilityIsFinal = false;
    tool.options = {{{.name = "path", .validate = option::text, .defaultValue = "tool"}}, {}};
    none.name = "counting";
    return std::map<std::string, EstimatorDescription>{{"roofline", roofline},
                                                       {"systolic", systolic},
                                                       {"cpu", cpu},
                                                       {"tool", tool},
                                                       {"counting", none}};
  }();
  return all;
}

inline EstimatorLookup lookup() {
  return [](const std::string& name) -> const EstimatorDescription* {
    auto found = descriptions().find(name);
    return found == descriptions().end() ? nullptr : &found->second;
  };
}

inline const MachineCatalog& catalog() {
  static const MachineCatalog machines(NOCTURNE_SOURCE_DIR "/configs");
  return machines;
}

inline PlanSources sources() {
  return {catalog(), lookup(), {"counting", "cpu", "roofline", "systolic"}};
}

// The message of the UsageError that `work` throws, "" when it throws none.
template <typename Work>
std::string mistake(Work&& work) {
  try {
    work();
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

} // namespace nocturne::test
