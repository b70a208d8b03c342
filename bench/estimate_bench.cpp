// What one estimate costs: on a synthetic module of 10,000 rows with 700 distinct operations.
#include <benchmark/benchmark.h>

#include "estimators/estimator.h"

namespace {

using namespace nocturne;

TensorType tensor(ElementKind kind, std::vector<int64_t> dims) {
  TensorType out;
  out.element.kind = kind;
  out.dims = std::move(dims);
  return out;
}

OpInfo elementwise(const char* name, int64_t size) {
  OpInfo op;
  op.name = name;
  TensorType type = tensor(ElementKind::BF16, {8, size, 512});
  op.operands = {type, type};
  op.results = {type};
  return op;
}

OpInfo dot(int64_t size) {
  OpInfo op;
  op.name = "stablehlo.dot_general";
  op.operands = {tensor(ElementKind::BF16, {8, 512, size}),
                 tensor(ElementKind::BF16, {size, 2048})};
  op.results = {tensor(ElementKind::BF16, {8, 512, 2048})};
  op.attributes = DotAttributes{{}, {}, {2}, {0}, {}, ElementKind::None};
  return op;
}

OpInfo reduce(int64_t size) {
  OpInfo op;
  op.name = "stablehlo.reduce";
  op.operands = {tensor(ElementKind::F32, {size, 512}), tensor(ElementKind::F32, {})};
  op.results = {tensor(ElementKind::F32, {size})};
  op.attributes = DimensionsAttributes{{1}};
  OpInfo add;
  add.name = "stablehlo.add";
  add.operands = {tensor(ElementKind::F32, {}), tensor(ElementKind::F32, {})};
  add.results = {tensor(ElementKind::F32, {})};
  op.nested = {add};
  return op;
}

// As in real programs: mostly element-wise operations and moves, a tenth contractions.
OpInfo distinct(int64_t index) {
  static const char* const kNames[] = {"stablehlo.add",       "stablehlo.multiply",
                                       "stablehlo.reshape",   "stablehlo.broadcast_in_dim",
                                       "stablehlo.transpose", "stablehlo.convert",
                                       "stablehlo.subtract",  "stablehlo.exponential"};
  switch (index % 10) {
  case 0:
    return dot(index + 16);
  case 1:
    return reduce(index + 16);
  default:
    return elementwise(kNames[index % 8], index + 16);
  }
}

Module synthetic() {
  ModuleBuilder builder("synthetic");
  for (int64_t row = 0; row < 10000; ++row)
    builder.add(distinct(row * 7919 % 700));
  return builder.build();
}

Json machine() {
  return {{"peak_flops", 19.5e12},
          {"memory_bandwidth", 1.555e12},
          {"per_datatype_flops", {{"f32", 19.5e12}, {"tf32", 156e12}, {"bf16", 312e12}}}};
}

void setRates(benchmark::State& state, const Module& module) {
  auto count = [&](size_t number) {
    return benchmark::Counter(static_cast<double>(number) * 1e-9 *
                                  static_cast<double>(state.iterations()),
                              benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  };
  state.counters["ns_per_distinct"] = count(module.ops.size());
  state.counters["ns_per_row"] = count(module.rows.size());
}

// A point of a sweep: make the instance, estimate, gather its statistics.
void point(benchmark::State& state, const char* name) {
  EstimatorRegistry registry;
  registerBuiltins(registry);
  Json options = resolveOptions(registry.find(name)->options, Json::object(), machine(), "");
  Module module = synthetic();
  StatisticsTree tree;
  for (auto _ : state) {
    auto estimator = registry.create(name, options);
    benchmark::DoNotOptimize(estimator->estimate(module, "", nullptr, true));
    estimator->addStatisticsTo(tree);
  }
  setRates(state, module);
}
BENCHMARK_CAPTURE(point, roofline, "roofline");
BENCHMARK_CAPTURE(point, roofline_hespas, "roofline_hespas");

// The further points of a shard: the same module on another machine.
void nextPoint(benchmark::State& state, const char* name) {
  EstimatorRegistry registry;
  registerBuiltins(registry);
  Json options = resolveOptions(registry.find(name)->options, Json::object(), machine(), "");
  Module module = synthetic();
  StatisticsTree tree;
  auto previous = registry.create(name, options);
  for (auto _ : state) {
    auto estimator = registry.create(name, options);
    estimator->prepareLike(*previous);
    benchmark::DoNotOptimize(estimator->estimate(module, "", nullptr, true));
    estimator->addStatisticsTo(tree);
    previous = std::move(estimator);
  }
  setRates(state, module);
}
BENCHMARK_CAPTURE(nextPoint, roofline, "roofline");
BENCHMARK_CAPTURE(nextPoint, roofline_hespas, "roofline_hespas");

void estimateOnly(benchmark::State& state) {
  EstimatorRegistry registry;
  registerBuiltins(registry);
  Json options = resolveOptions(registry.find("roofline")->options, Json::object(), machine(), "");
  Module module = synthetic();
  auto estimator = registry.create("roofline", options);
  for (auto _ : state)
    benchmark::DoNotOptimize(estimator->estimate(module, "", nullptr, true));
  setRates(state, module);
}
BENCHMARK(estimateOnly);

void create(benchmark::State& state) {
  EstimatorRegistry registry;
  registerBuiltins(registry);
  Json options = resolveOptions(registry.find("roofline")->options, Json::object(), machine(), "");
  for (auto _ : state)
    benchmark::DoNotOptimize(registry.create("roofline", options));
}
BENCHMARK(create);

void statistics(benchmark::State& state) {
  EstimatorRegistry registry;
  registerBuiltins(registry);
  Json options = resolveOptions(registry.find("roofline")->options, Json::object(), machine(), "");
  Module module = synthetic();
  auto estimator = registry.create("roofline", options);
  estimator->estimate(module, "", nullptr, true);
  StatisticsTree tree;
  for (auto _ : state)
    estimator->addStatisticsTo(tree);
}
BENCHMARK(statistics);

} // namespace
