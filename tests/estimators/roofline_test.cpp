// The machine's half of the model, coverage and statistics.
#include "estimators/plan.h"
#include "ops.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {

OpAttributes contract() {
  return DotAttributes{{}, {}, {1}, {0}, {}, ElementKind::None};
}
OpInfo square(int n) {
  std::string t = std::to_string(n) + 'x' + std::to_string(n) + "xf32";
  return op("stablehlo.dot_general", t + ' ' + t, t, contract());
}

double valueOf(const StatisticsTree& tree, const std::string& path) {
  const Statistic* found = tree.find(path);
  REQUIRE_MESSAGE(found != nullptr, path);
  return found->value().value_or(-1);
}

} // namespace

TEST_CASE("an operation takes the longer of arithmetic and memory") {
  // 2 * 1000^3 operations in 2 ms, 12 MB in 12 us.
  CHECK(*cost(square(1000)).runtime == doctest::Approx(2e-3).epsilon(1e-12));
  // 3 kB in 3 ns against 256 operations.
  CHECK(*cost(op("stablehlo.add", "256xf32 256xf32", "256xf32")).runtime ==
        doctest::Approx(3.072e-9).epsilon(1e-12));
  // A module takes the sum.
  auto estimator = make("roofline", unitMachine());
  ModuleBuilder builder("sum");
  Module module = builder.add(square(1000), 3).add(square(500)).build();
  CHECK(*estimator->getEstimate(module).runtime ==
        doctest::Approx(3 * 2e-3 + 0.25e-3).epsilon(1e-12));
}

TEST_CASE("efficiencies lengthen their part, the overhead adds to every operation") {
  CHECK(*cost(square(1000), {{"compute_efficiency", 0.5}}).runtime ==
        doctest::Approx(4e-3).epsilon(1e-12));
  OpInfo add = op("stablehlo.add", "256xf32 256xf32", "256xf32");
  CHECK(*cost(add, {{"bandwidth_efficiency", 0.25}}).runtime ==
        doctest::Approx(4 * 3.072e-9).epsilon(1e-12));
  CHECK(*cost(add, {{"op_overhead_s", 1e-6}}).runtime ==
        doctest::Approx(1e-6 + 3.072e-9).epsilon(1e-12));
  auto estimator = make("roofline", unitMachine(), {{"op_overhead_s", 1e-6}});
  estimator->getEstimate(moduleOf({add, square(1000)}));
  std::vector<OpNameTotal> totals = estimator->opTotals();
  REQUIRE(totals.size() == 2);
  CHECK(totals[0].name == "stablehlo.add");
  CHECK((totals[0].bound == Bound::Overhead));
  CHECK((totals[1].bound == Bound::Compute));
}

TEST_CASE("coverage counts executions") {
  ModuleBuilder builder("coverage");
  Module module = builder.add(op("stablehlo.add", "4xf32 4xf32", "4xf32"), 3)
                      .add(op("foreign.thing", "4xf32", "4xf32"), 1)
                      .build();
  CHECK_THROWS_WITH_AS(
      make("roofline", unitMachine())->getEstimate(module),
      doctest::Contains("estimator roofline has no rule for operation foreign.thing"), ItemError);
  EstimatorResult result =
      make("roofline", unitMachine(), {{"unknown_op", "bandwidth"}})->getEstimate(module);
  CHECK(result.coverage() == 0.75);
  CHECK(result.uncovered == std::vector<Uncovered>{{"foreign.thing", 1}});
  CHECK(result.bytes == 3 * 48 + 32);
}

TEST_CASE("statistics are sums and ratios over all modules of a run") {
  Json machine = unitMachine();
  machine["tdp_w"] = 100;
  auto estimator = make("roofline", machine, {{"hbm_power_ratio", 0.25}});
  Module compute = moduleOf({square(1000)});
  Module memory = moduleOf({op("stablehlo.transpose", "1000x1000xf32", "1000x1000xf32")});
  estimator->getEstimate(compute);
  estimator->getEstimate(memory);
  StatisticsTree tree = estimator->getStatistics();
  CHECK(valueOf(tree, "modules_processed") == 2);
  CHECK(valueOf(tree, "operators_processed") == 2);
  CHECK(valueOf(tree, "flops") == 2e9);
  CHECK(valueOf(tree, "mem_bytes") == 20e6);
  CHECK(valueOf(tree, "runtime") == doctest::Approx(2e-3 + 8e-6));
  CHECK(valueOf(tree, "per_op/stablehlo.dot_general/count") == 1);
  CHECK(valueOf(tree, "per_op/stablehlo.transpose/mem_bytes") == 8e6);
  CHECK(valueOf(tree, "per_datatype/f32/flops") == 2e9);
  CHECK(valueOf(tree, "per_datatype/f32/flops_util") == doctest::Approx(1));
  CHECK(valueOf(tree, "flops_util") == doctest::Approx(2e-3 / 2.008e-3));
  CHECK(valueOf(tree, "mem_bw_util") == doctest::Approx(20e-6 / 2.008e-3));
  CHECK(valueOf(tree, "avg_flopss") == doctest::Approx(2e9 / 2.008e-3));
  CHECK(tree.find("avg_flopss")->format.unit == "FLOP/s");
  // Module by module: 75 W of arithmetic and 12e-6/2e-3 of 25 W for 2 ms, then 25 W for 8 us.
  CHECK(valueOf(tree, "total_energy") == doctest::Approx(75 * 2e-3 + 25 * 12e-6 + 25 * 8e-6));
  addShares(tree);
  CHECK(valueOf(tree, "per_op_runtime_prop/stablehlo.dot_general") ==
        doctest::Approx(2e-3 / 2.008e-3));
}

TEST_CASE("utilisation never exceeds one where tf32 is used") {
  Json machine = {{"peak_flops", 1e12},
                  {"memory_bandwidth", 1e12},
                  {"per_datatype_flops", {{"f32", 1e12}, {"tf32", 8e12}}}};
  auto estimator = make("roofline", machine);
  estimator->getEstimate(moduleOf({square(1000)}));
  StatisticsTree tree = estimator->getStatistics();
  CHECK(valueOf(tree, "flops_util") == doctest::Approx(1));
  CHECK(tree.find("per_datatype/f32") == nullptr);
  CHECK(valueOf(tree, "per_datatype/tf32/flops_util") == doctest::Approx(1));
}

TEST_CASE("statistics do not depend on which instance did what") {
  std::vector<Module> modules;
  for (int n : {3, 17, 100, 999})
    modules.push_back(moduleOf({square(n), op("stablehlo.add", "7xf32 7xf32", "7xf32")}));
  auto gather = [&](std::vector<std::vector<size_t>> shares) {
    StatisticsTree tree;
    for (const auto& share : shares) {
      auto estimator = make("roofline", unitMachine(), {{"hbm_power_ratio", 0.5}, {"tdp_w", 300}});
      for (size_t index : share)
        estimator->getEstimate(modules[index]);
      StatisticsTree shard;
      estimator->addStatisticsTo(shard);
      tree.merge(StatisticsTree::deserialise(shard.serialise(true)));
    }
    return tree.serialise(false);
  };
  std::string alone = gather({{0, 1, 2, 3}});
  CHECK(gather({{3, 1}, {2, 0}}) == alone);
  CHECK(gather({{3}, {1}, {2}, {0}}) == alone);
  auto one = make("roofline", unitMachine(), {{"hbm_power_ratio", 0.5}, {"tdp_w", 300}});
  EstimatorRegistry registry;
  registerBuiltins(registry);
  Json options = resolveOptions(registry.find("roofline")->options,
                                {{"hbm_power_ratio", 0.5}, {"tdp_w", 300}}, unitMachine(), "");
  auto left = registry.create("roofline", options), right = registry.create("roofline", options);
  left->getEstimate(modules[0]);
  left->getEstimate(modules[2]);
  right->getEstimate(modules[3]);
  right->getEstimate(modules[1]);
  left->absorb(*right);
  CHECK(left->getStatistics().serialise(false) == alone);
}

TEST_CASE("a hit adds what an estimate with it would") {
  Module module = moduleOf({square(100)});
  auto first = make("roofline", unitMachine());
  int64_t failureOp = -1;
  ResultRow row = toRow(first->estimate(module, "", nullptr, true, &failureOp), failureOp);
  CHECK(failureOp == -1);
  auto second = make("roofline", unitMachine());
  EstimatorResult hit = second->estimate(module, "", &row, true);
  CHECK(hit.fromCache);
  StatisticsTree added;
  ComputeEstimator::addHit(added, row);
  for (const auto& [name, member] : added.root().members()) {
    std::string here, there;
    ByteWriter hereOut(here), thereOut(there);
    member->write(hereOut, true);
    second->getStatistics().find(name)->write(thereOut, true);
    CHECK(here == there);
  }
  CHECK_FALSE(second->plan().description.hooksSeeHits);
}

TEST_CASE("per-module statistics stay those of one run") {
  auto estimator = make("roofline", unitMachine(), {{"disable_cache", true}});
  Module module = moduleOf({square(1000)});
  EstimatorResult once = estimator->getEstimate(module);
  EstimatorResult again = estimator->getEstimate(module);
  CHECK(once.statistics == again.statistics);
  CHECK(once.statistics["flops"] == 2e9);
  CHECK(valueOf(estimator->getStatistics(), "runtime") == doctest::Approx(4e-3));
}

TEST_CASE("what an instance learnt of a module serves the next, on any machine") {
  Module module = moduleOf({square(100), op("stablehlo.add", "7xf32 7xf32", "7xf32"),
                            customCall("TopK", "8xf32", "2xf32 2xi32")});
  EstimatorRegistry registry;
  registerBuiltins(registry);
  auto made = [&](double rate) {
    Json machine = {{"peak_flops", rate}, {"memory_bandwidth", 1e12}};
    return registry.create("roofline", resolveOptions(registry.find("roofline")->options,
                                                      Json::object(), machine, ""));
  };
  auto first = made(1e12), second = made(1e9), alone = made(1e9);
  first->getEstimate(module);
  second->prepareLike(*first);
  CHECK(second->getEstimate(module).runtime == alone->getEstimate(module).runtime);
  Module other = moduleOf({square(50)});
  CHECK(second->getEstimate(other).flops == 2.0 * 50 * 50 * 50);
  auto different = make("roofline_hespas", unitMachine());
  different->prepareLike(*first);
  CHECK(different->getEstimate(other).flops == 2.0 * 50 * 50 * 50);
}
