// The measured estimator, on measurements that are made up.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "engine/kernel_builder.h"
#include "engine/sweep_plan.h"
#include "estimators/cpu_estimator.h"
#include "ops.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {

class FakeKernels final : public KernelBuilder {
public:
  Measurement measure(const MeasureRequest& request) override {
    requests.push_back(request);
    if (failure)
      throw ItemError(*failure);
    Measurement measurement;
    setTimes(measurement, {4e-6, 1e-6, 2e-6});
    measurement.processor = "a processor";
    measurement.built = true;
    measurement.buildSeconds = 0.5;
    return measurement;
  }
  std::string environmentText() const override { return environment; }

  std::vector<MeasureRequest> requests;
  std::optional<Failure> failure;
  std::string environment = "this computer";
};

// A module whose text lies in a file.
struct Fixture {
  Fixture() {
    std::filesystem::create_directories(folder);
    std::ofstream(path) << text;
    module = ModuleBuilder("m")
                 .add(op("x.a", "2xf32", "2xf32"))
                 .add(op("x.b", "2xf32", "2xf32"), 3)
                 .build();
    module.path = path;
    module.files = {path};
    module.contentHash = hashBytes(text);
    module.rows[0].line = 3;
    module.rows[1].line = 4;
    module.rows[1].column = 7;
  }
  ~Fixture() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  std::unique_ptr<Estimator> make(const Json& options = Json::object()) {
    return registryWith(kernels)->make("cpu", options);
  }
  EstimatorRegistry* registryWith(std::shared_ptr<KernelBuilder> with) {
    registries.push_back(std::make_unique<EstimatorRegistry>(std::move(with)));
    registries.back()->add<CpuEstimator>();
    return registries.back().get();
  }

  const std::string folder =
      std::filesystem::temp_directory_path() / ("nocturne-cpu-test-" + std::to_string(::getpid()));
  const std::string path = folder + "/m.mlir", text = "module text";
  Module module;
  std::shared_ptr<FakeKernels> kernels = std::make_shared<FakeKernels>();
  std::vector<std::unique_ptr<EstimatorRegistry>> registries;
};

// What a class of somebody else's may make of a measurement.
class Scaled : public virtual CpuEstimator {
public:
  static void describe(EstimatorClass<Scaled>& c) { c.name("scaled").extends<CpuEstimator>(); }

protected:
  ModuleResult wholeModuleResult(const Module& module, const ModuleSource& source) override {
    ModuleResult result = CpuEstimator::wholeModuleResult(module, source);
    result.runtime = 10 * result.runtime.value();
    return result;
  }
};

Failure failureOf(Estimator& estimator, const Module& module) {
  try {
    estimator.getEstimate(module);
  } catch (const ItemError& error) {
    return error.failure();
  }
  return {};
}

} // namespace

TEST_CASE("samples become median, least, mean and the median of their distances") {
  Measurement even, odd;
  setTimes(even, {8, 1, 3, 2});
  CHECK(even.median == 2.5);
  CHECK(even.least == 1);
  CHECK(even.mean == 3.5);
  CHECK(even.spread == 1); // of 0.5, 0.5, 1.5 and 5.5
  CHECK(even.samples == 4);
  setTimes(odd, {5, 1, 4});
  CHECK(odd.median == 4);
  CHECK(odd.spread == 1);
}

TEST_CASE_FIXTURE(Fixture, "a module's time is the statistic that is asked for") {
  for (const auto& [name, seconds] :
       {std::pair("median", 2e-6), std::pair("min", 1e-6), std::pair("mean", 7e-6 / 3)}) {
    const EstimatorResult result = make({{"statistic", name}})->getEstimate(module);
    CHECK(result.success);
    CHECK(result.runtime.value() == doctest::Approx(seconds));
    CHECK(result.totalRuns == 4);
    CHECK(result.coverage() == 1);
  }
}

TEST_CASE_FIXTURE(Fixture, "a measurement is described in metadata and statistics") {
  const auto estimator = make();
  const EstimatorResult result = estimator->getEstimate(module);
  const Json& said = result.metadata.at("measurement");
  CHECK(said.at("median_s") == 2e-6);
  CHECK(said.at("spread_s") == 1e-6);
  CHECK(said.at("repetitions") == 3);
  CHECK(said.at("processor") == "a processor");
  CHECK(result.statistics.at("measurements").at("samples") == 3);
  const StatisticsTree statistics = estimator->getStatistics();
  CHECK(statistics.find("measurements/libraries_built")->value() == 1);
  CHECK(statistics.find("measurements/build_time")->value() == 0.5);
}

TEST_CASE_FIXTURE(Fixture, "options reach whoever measures") {
  make({{"warmup", 0},
        {"repetitions", 7},
        {"min_time_s", 0},
        {"seed", 9},
        {"arch", "x86-64-v3"},
        {"entry", "f"},
        {"timeout_s", 1.5},
        {"cache_dir", ""}})
      ->getEstimate(module);
  const MeasureRequest& request = kernels->requests.at(0);
  CHECK(request.text == text);
  CHECK(request.path == path);
  CHECK(request.warmup == 0);
  CHECK(request.repetitions == 7);
  CHECK(request.minSeconds == 0);
  CHECK(request.seed == 9);
  CHECK(request.arch == "x86-64-v3");
  CHECK(request.entry == "f");
  CHECK(request.timeoutSeconds == 1.5);
  CHECK(request.folder.empty());
  make({{"cache_dir", folder}})->getEstimate(module);
  CHECK(kernels->requests.at(1).folder == folder + "/kernels");
}

TEST_CASE_FIXTURE(Fixture, "a stop of the estimator is one of the measurement") {
  const auto estimator = make();
  std::stop_source stop;
  estimator->setStop(stop.get_token());
  estimator->getEstimate(module);
  CHECK_FALSE(kernels->requests.at(0).stop.stop_requested());
  stop.request_stop();
  CHECK(kernels->requests.at(0).stop.stop_requested());
}

TEST_CASE_FIXTURE(Fixture, "results are kept for the processor that they were measured on") {
  const auto digestOf = [&](const std::string& environment, const Json& given) {
    kernels->environment = environment;
    const EstimatorDescription& description = *registryWith(kernels)->find("cpu");
    return configurationDigest(description, resolveOptions(description.options, given, Json(), ""),
                               "reader");
  };
  const Digest usual = digestOf("one", Json::object());
  CHECK(digestOf("one", Json::object()) == usual);
  CHECK(digestOf("one", {{"timeout_s", 5}}) == usual);
  CHECK_FALSE(digestOf("other", Json::object()) == usual);
  for (const char* option : {"warmup", "repetitions", "min_time_s", "seed"})
    CHECK_FALSE(digestOf("one", {{option, 77}}) == usual);
  CHECK_FALSE(digestOf("one", {{"arch", "x86-64"}}) == usual);
  CHECK_FALSE(digestOf("one", {{"statistic", "min"}}) == usual);
  CHECK_FALSE(digestOf("one", {{"entry", "f"}}) == usual);
}

TEST_CASE_FIXTURE(Fixture, "a failure keeps its kind, and its place names the operation") {
  kernels->failure = Failure{FailureKind::UnsupportedOp, "x.b cannot be compiled", path, 4, 7};
  const auto estimator = make();
  int64_t blamed = -1;
  CHECK_THROWS_AS(estimator->estimate(module, "", nullptr, false, &blamed), ItemError);
  CHECK(blamed == 1);
  CHECK(failureOf(*estimator, module) == *kernels->failure);
  // Of an operation that the table does not have, nothing more is known.
  kernels->failure = Failure{FailureKind::Crashed, "died of SIGSEGV", "", 0, 0};
  CHECK_THROWS_AS(estimator->estimate(module, "", nullptr, false, &blamed), ItemError);
  CHECK(blamed == -1);
  CHECK((failureOf(*estimator, module).kind == FailureKind::Crashed));
}

TEST_CASE_FIXTURE(Fixture, "without a compiler the class is listed, and its items fail") {
  EstimatorRegistry& registry = *registryWith(nullptr);
  CHECK(registry.find("cpu")->unavailable == "this build has no compiler");
  const Failure failure = failureOf(*registry.make("cpu", Json::object()), module);
  CHECK((failure.kind == FailureKind::ToolFailed));
  CHECK(failure.message.find("has no compiler") != std::string::npos);
  // Services may bring one.
  Services services;
  services.kernels = kernels;
  CHECK(registry.make("cpu", Json::object(), Json(), services)->getEstimate(module).success);
}

TEST_CASE_FIXTURE(Fixture, "a file that changed since it was read is not measured") {
  std::ofstream(path) << "another text";
  CHECK((failureOf(*make(), module).kind == FailureKind::Unreadable));
  CHECK(kernels->requests.empty());
}

TEST_CASE("a class that extends a measuring one is kept for the processor as well") {
  Fixture fixture;
  EstimatorRegistry registry(fixture.kernels);
  registry.add<Scaled>();
  CHECK(registry.find("scaled")->environment == "this computer");
  CHECK(registry.find("scaled")->wholeModule);
  CHECK_FALSE(registry.find("scaled")->allowMultiprocess);
  const Json options = {{"cpu", {{"repetitions", 3}}}};
  CHECK(registry.make("scaled", options)->getEstimate(fixture.module).runtime.value() ==
        doctest::Approx(2e-5));
  CHECK(fixture.kernels->requests.at(0).repetitions == 3);
}
