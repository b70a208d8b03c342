#include "tools/settings.h"

#include <doctest/doctest.h>

#include "compiler/reader/module_reader.h"

using namespace nocturne;
using namespace nocturne::tools;

namespace {

SweepPlan makePlan() {
  SweepPlan plan;
  EstimatorEntry estimator;
  estimator.name = "roofline";
  plan.estimators = {estimator};
  HardwareEntry machine;
  machine.base.name = "box";
  plan.hardware = {machine, machine};
  return plan;
}

std::string messageOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a setting goes to the machines or to the estimators that have it") {
  const PlanInputs inputs;
  SweepPlan plan = makePlan();
  applySettings(plan,
                {"memory_bandwidth=1e12", "compute_scale=2", "compute_efficiency=0.5",
                 "unknown_op=skip", "per_datatype_flops.bf16=3e14"},
                inputs.registry().lookup());
  for (const HardwareEntry& machine : plan.hardware)
    CHECK(machine.set == Json{{"memory_bandwidth", 1e12},
                              {"compute_scale", 2},
                              {"per_datatype_flops.bf16", 3e14}});
  CHECK(plan.estimators[0].set == Json{{"compute_efficiency", 0.5}, {"unknown_op", "skip"}});
}

TEST_CASE("a machine's value that an estimator sets for itself is set there too") {
  const PlanInputs inputs;
  SweepPlan plan = makePlan();
  plan.estimators[0].set["memory_bandwidth"] = 1e9;
  applySettings(plan, {"memory_bandwidth=2e9"}, inputs.registry().lookup());
  CHECK(plan.estimators[0].set["memory_bandwidth"] == 2e9);
}

TEST_CASE("a setting that nothing has is told its neighbour") {
  const PlanInputs inputs;
  SweepPlan plan = makePlan();
  const EstimatorLookup lookup = inputs.registry().lookup();
  CHECK(has(messageOf([&] { applySettings(plan, {"memory_bandwith=1"}, lookup); }),
            "did you mean \"memory_bandwidth\"?"));
  CHECK(has(messageOf([&] { applySettings(plan, {"compute_eficiency=1"}, lookup); }),
            "did you mean \"compute_efficiency\"?"));
  CHECK(has(messageOf([&] { applySettings(plan, {"nothing"}, lookup); }), "KEY=VALUE"));
  CHECK(has(messageOf([&] { applySettings(plan, {"=1"}, lookup); }), "KEY=VALUE"));
}

TEST_CASE("an estimator's option for a cache is refused in favour of the flag for it") {
  const PlanInputs inputs;
  SweepPlan plan = makePlan();
  const EstimatorLookup lookup = inputs.registry().lookup();
  CHECK(has(messageOf([&] { applySettings(plan, {"disable_cache=true"}, lookup); }),
            "--set disable_cache: a sweep has one cache"));
  CHECK(has(messageOf([&] { applySettings(plan, {"cache_dir=x"}, lookup); }), "--cache-dir"));
  CHECK(has(messageOf([&] { applySettings(plan, {"in_memory_only_cache=true"}, lookup); }),
            "--in-memory-only-cache"));
  CHECK(plan.estimators[0].set.empty());
}

TEST_CASE("assumptions are checked and reach the reader") {
  SweepPlan plan = makePlan();
  applyAssumptions(plan, {"f", 24, "mean"});
  CHECK(plan.assume.entry == "f");
  const compiler::ReaderOptions options = compiler::readerOptions(plan.assume);
  CHECK(options.entry == "f");
  CHECK(options.tripCount == 24);
  CHECK((options.branch == compiler::ReaderOptions::Branch::Mean));
  CHECK(has(messageOf([&] { applyAssumptions(plan, {{}, {}, "frist"}); }), "\"first\""));
  CHECK(has(messageOf([&] { applyAssumptions(plan, {{}, -1, {}}); }), "--trip-count"));
}
