// What the machinery around handlers costs: hooks, statistics, registration.
#include <string>
#include <utility>

#include <benchmark/benchmark.h>

#include "estimators/estimator.h"
#include "estimators/roofline_estimator.h"

namespace {

using namespace nocturne;

OpResult timed(double seconds) {
  OpResult result;
  result.runtime = seconds;
  return result;
}

// Without statistics and without hooks.
class Bare : public virtual Estimator {
public:
  static void describe(EstimatorClass<Bare>& c) {
    c.name("bare").extends<Estimator>();
    c.opHandler({"bench.op"}, &Bare::handle);
  }

private:
  OpResult handle(const OpInfo&) { return timed(1e-6); }
};

// The same, one call of a hook for each row to compare with: rows are walked then.
class Rows : public Bare {
public:
  static void describe(EstimatorClass<Rows>& c) {
    c.name("rows").extends<Bare>().preOpHook(&Rows::before);
  }

private:
  void before(const OpRun&) {}
};

class TwelveMore : public Rows {
public:
  static void describe(EstimatorClass<TwelveMore>& c) {
    c.name("twelve").extends<Rows>();
    for (int i = 0; i < 6; ++i)
      c.preOpHook(&TwelveMore::before).postOpHook(&TwelveMore::after);
  }

private:
  void before(const OpRun&) {}
  void after(const OpRun&, const OpResult&) {}
};

// The statistics of every estimator: by name of the operation.
class Counted : public virtual ComputeEstimator {
public:
  static void describe(EstimatorClass<Counted>& c) {
    c.name("counted").extends<ComputeEstimator>();
    c.opHandler({"bench.op"}, &Counted::handle);
  }

private:
  OpResult handle(const OpInfo&) { return timed(1e-6); }
};

// Rows of as many distinct operations, so that nothing is saved by equal ones.
Module module(int64_t rows) {
  ModuleBuilder builder("rows");
  for (int64_t i = 0; i < rows; ++i) {
    OpInfo op;
    op.name = "bench.op";
    TensorType type;
    type.element.kind = ElementKind::F32;
    type.dims = {i + 1};
    op.results = {type};
    builder.add(op);
  }
  return builder.build();
}

template <typename T>
void estimate(benchmark::State& state) {
  EstimatorRegistry registry;
  registry.add<T>();
  auto estimator = registry.make(registry.all().front()->name, Json::object());
  const Module rows = module(1000);
  for (auto _ : state)
    benchmark::DoNotOptimize(estimator->estimate(rows, "", nullptr, false));
  state.counters["ns_per_op"] =
      benchmark::Counter(1e-9 * 1000.0 * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(estimate<Bare>)->Name("operations/bare");
BENCHMARK(estimate<Rows>)->Name("operations/one_empty_hook");
BENCHMARK(estimate<TwelveMore>)->Name("operations/twelve_empty_hooks_more");
BENCHMARK(estimate<Counted>)->Name("operations/statistics");

template <int N>
class Numbered : public RooflineEstimator {
public:
  static void describe(EstimatorClass<Numbered>& c) {
    c.name("numbered_" + std::to_string(N)).template extends<RooflineEstimator>();
    c.option("factor", &Numbered::factor_, option::positive).defaultValue(1.0);
    c.opHandler({"stablehlo.sort"}, &Numbered::sort);
  }

private:
  OpResult sort(const OpInfo&) { return timed(factor_); }
  double factor_ = 1;
};

template <int... N>
void addAll(EstimatorRegistry& registry, std::integer_sequence<int, N...>) {
  (registry.add<Numbered<N>>(), ...);
}

void registerFifty(benchmark::State& state) {
  for (auto _ : state) {
    EstimatorRegistry registry;
    addAll(registry, std::make_integer_sequence<int, 50>());
    benchmark::DoNotOptimize(registry.all());
  }
}
BENCHMARK(registerFifty)->Name("register_50_estimators")->Unit(benchmark::kMillisecond);

} // namespace
