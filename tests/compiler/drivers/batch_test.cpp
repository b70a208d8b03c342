#include <doctest/doctest.h>

#include "compiler/drivers/batch.h"
#include "tests/compiler/drivers/fixture.h"

namespace nocturne::test {

using namespace compiler;

namespace {

struct Bench {
  ScratchDir dir;
  std::shared_ptr<FakeGenerator> generator = std::make_shared<FakeGenerator>();
  BuildDriver driver{generator};
  std::vector<ModuleSource> modules;
  std::vector<std::string> folders;

  explicit Bench(int count) {
    for (int i = 0; i < count; ++i) {
      modules.push_back(scaleModule("f" + std::to_string(i), i));
      folders.push_back(dir / std::to_string(i));
    }
  }
  BatchResult run() {
    BatchOptions two;
    two.jobs = 2;
    return run(two);
  }
  BatchResult run(const BatchOptions& batch) {
    return buildIrModuleBatch(driver, modules, folders, {}, batch);
  }
};

} // namespace

TEST_CASE(
    "forty modules: result i is module i, one that is bad fails alone, the next batch works") {
  Bench bench(40);
  bench.modules[17] = {"seventeen.mlir", "bad"};
  const BatchResult result = bench.run();
  REQUIRE(result.reports.size() == 40);
  CHECK(result.progress.built == 39);
  CHECK(result.progress.failed == 1);
  CHECK_FALSE(result.succeeded());
  for (int i = 0; i < 40; ++i) {
    CAPTURE(i);
    const BuildReport& report = result.reports[i];
    if (i == 17) {
      CHECK(report.failure->text() == "seventeen.mlir:3: a bad module");
      continue;
    }
    CHECK(report.outcome.link == bench.folders[i] + "/lib.so");
    const std::string name = "f" + std::to_string(i);
    CHECK(callWithThree(CompiledModule::load(bench.folders[i])->function(name)) == 3.0F * i);
  }
  bench.modules[17] = scaleModule("f17", 17);
  const BatchResult next = bench.run();
  CHECK(next.succeeded());
  CHECK(next.progress.reused == 39);
  CHECK(next.progress.built == 1);
}

TEST_CASE("a batch with too few folders is refused before anything is built") {
  Bench bench(40);
  bench.folders.resize(37);
  CHECK_THROWS_WITH_AS(bench.run(), "a batch of 40 modules has 37 output folders; each needs one",
                       UsageError);
  bench.folders.resize(40);
  CHECK_THROWS_AS(bench.run(), UsageError); // three of them are ""
  CHECK(bench.generator->calls() == 0);
}

TEST_CASE("an empty batch is fine") {
  Bench bench(0);
  CHECK(bench.run().succeeded());
}

TEST_CASE("equal modules are built once, in their own folder or in another") {
  Bench bench(4);
  bench.modules[1] = bench.modules[2] = bench.modules[3] = bench.modules[0];
  bench.folders[1] = bench.folders[0];
  const BatchResult result = bench.run();
  CHECK(result.succeeded());
  CHECK(bench.generator->calls() == 1);
  for (const std::string& folder : bench.folders)
    CHECK(callWithThree(CompiledModule::load(folder)->function("f0")) == 0);
  CHECK(result.reports[3].outcome.library.starts_with(bench.folders[3]));
}

TEST_CASE("listeners hear of each module in turn, with a rate and the time that is left") {
  Bench bench(5);
  std::vector<BatchProgress> heard;
  BatchOptions options;
  options.jobs = 3;
  options.memoryBytes = 1; // one at a time, then
  options.progress = [&](const BatchProgress& progress) { heard.push_back(progress); };
  CHECK(bench.run(options).succeeded());
  REQUIRE(heard.size() == 5);
  CHECK(heard.back().finished == 5);
  CHECK(heard.back().total == 5);
  CHECK(heard.back().perSecond > 0);
  CHECK(heard.back().left == 0);
}

TEST_CASE("a batch that is stopped ends with a state for each module") {
  Bench bench(6);
  std::stop_source source;
  BatchOptions options;
  options.jobs = 1;
  options.stop = source.get_token();
  options.progress = [&](const BatchProgress&) { source.request_stop(); };
  const BatchResult result = bench.run(options);
  CHECK(result.progress.built == 1);
  CHECK(result.progress.cancelled == 5);
  CHECK((result.reports[5].state == BuildState::Cancelled));
  CHECK(bench.run().progress.built == 5);
}

TEST_CASE("what a listener throws comes out of the batch") {
  Bench bench(6);
  BatchOptions options;
  options.jobs = 2;
  options.progress = [](const BatchProgress&) { throw UsageError("enough"); };
  CHECK_THROWS_WITH_AS(bench.run(options), "enough", UsageError);
  CHECK(bench.generator->calls() <= 3);
}

} // namespace nocturne::test
