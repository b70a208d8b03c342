// Estimators as a library over the real reader and the real cache.
#include "actors/standalone.h"

#include <doctest/doctest.h>

#include "estimators/registry.h"
#include "tests/support/scratch_dir.h"

using namespace nocturne;

namespace {

constexpr const char* kAdd = R"(func.func @main(%a: tensor<250xf32>) -> tensor<250xf32> {
  %0 = stablehlo.add %a, %a : tensor<250xf32>
  return %0 : tensor<250xf32>
}
)";

Json machine(const std::string& cache) {
  return {{"peak_flops", 1e12}, {"memory_bandwidth", 1e12}, {"cache_dir", cache}};
}

} // namespace

TEST_CASE("a file is run in one call, and the next call hits the folder") {
  const test::ScratchDir folder;
  const std::string file = folder.write("add.mlir", kAdd);
  EstimatorRegistry registry;
  registerBuiltins(registry);
  const Json config = machine(folder / "cache");
  const EstimatorResult first = registry.run("roofline", config, file, standalone());
  // Three times 1000 bytes at 1 TB/s: twice read, once written.
  CHECK(first.runtime == 3e-9);
  CHECK_FALSE(first.fromCache);
  EstimatorResult second = registry.run("roofline", config, file, standalone());
  CHECK(second.fromCache);
  CHECK(toJsonText(second) == toJsonText(first));
  Assumptions twice;
  twice.tripCount = 2; // part of the keys, needed or not
  CHECK_FALSE(registry.run("roofline", config, file, standalone(twice)).fromCache);
  CHECK_THROWS_AS(registry.run("roofline", config, file + "x", standalone()), ItemError);
  CHECK_THROWS_AS(registry.run("roofline", {{"peak_flop", 1}}, file, standalone()), UsageError);
  CHECK_THROWS_AS(registry.run("roofline", config, file, Services()), Error);
}

TEST_CASE("a broken cache is a warning and a miss") {
  const test::ScratchDir folder;
  const std::string file = folder.write("add.mlir", kAdd);
  folder.write("cache/cache.sqlite", std::string(10'000, 'x'));
  EstimatorRegistry registry;
  registerBuiltins(registry);
  const Services services = standalone();
  auto estimator = registry.make("roofline", machine(folder / "cache"), Json(), services);
  CHECK_FALSE(estimator->getEstimate(*services.reader->read(file)).fromCache);
  estimator->writeCache();
  const std::vector<std::string> warnings = estimator->takeWarnings();
  REQUIRE(warnings.size() == 1);
  CHECK(warnings.front().find("it is kept as") != std::string::npos);
  CHECK(estimator->takeWarnings().empty());
}
