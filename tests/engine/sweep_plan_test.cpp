#include "engine/sweep_plan.h"

#include <ctime>
#include <set>

#include <doctest/doctest.h>

#include "plan_fixture.h"

using namespace nocturne;
using test::mistake;

namespace {

const std::string& folder() {
  static const test::ScratchDir made;
  static const std::string file = made.write("one.mlir");
  return made.path();
}

SweepPlan plan(const std::string& estimators, const std::string& hardware) {
  return planFromJson(Json::parse(R"({"modules": ["one.mlir"], "estimators": )" + estimators +
                                  R"(, "hardware": )" + hardware + "}"),
                      folder(), test::sources());
}

Point pointOf(const SweepPlan& of, uint64_t index, const std::string& reader = "reader 1") {
  return of.point(index, test::lookup(), reader);
}

const char* const kTwoGrids = R"([{"base": "A40", "name": "a{memory_bandwidth}-{compute_scale}",
    "grid": {"compute_scale": [1, 2], "memory_bandwidth": [1e12, 2e12, 3e12]}}, "L40S"])";

} // namespace

TEST_CASE("points are estimator-major, then machine, last axis fastest") {
  SweepPlan made =
      plan(R"([{"name": "systolic", "grid": {"rows": [64, 128]}}, "roofline"])", kTwoGrids);
  REQUIRE(made.pointCount() == 3 * 7);
  Point point = made.pointNames(9);
  CHECK(point.index == 9);
  CHECK(point.estimator == "systolic");
  CHECK(point.hardware == "a3000000000000-1");
  CHECK(point.axes == std::vector<std::pair<std::string, Json>>{
                          {"rows", 128}, {"compute_scale", 1.0}, {"memory_bandwidth", 3e12}});
  CHECK(point.memoryCapacity == 48e9);
  CHECK(made.pointNames(6).hardware == "L40S");
  CHECK(made.pointNames(6).axes.size() == 1);
  CHECK(made.pointNames(14).estimator == "roofline");
  CHECK(made.pointNames(20).axes.empty());
  CHECK_THROWS_AS(made.pointNames(21), Error);
  std::set<std::string> names;
  for (uint64_t i = 0; i < made.pointCount(); ++i)
    names.insert(made.pointNames(i).estimator + made.pointNames(i).hardware +
                 Json(made.pointNames(i).axes).dump());
  CHECK(names.size() == made.pointCount());
}

TEST_CASE("the options of a point come from the estimator's entry, the machine and the defaults") {
  SweepPlan made = plan(R"([{"name": "systolic", "set": {"roofline": {"compute_efficiency": 0.5},
                             "roofline.memory_bandwidth": 7}, "grid": {"rows": [64]}}])",
                        R"([{"base": "A40", "name": "x{compute_scale}{bandwidth_scale}",
                             "set": {"per_datatype_flops.bf16": 1e12},
                             "grid": {"compute_scale": [2], "bandwidth_scale": [3]}}])");
  Json options = pointOf(made, 0).options;
  CHECK(options["rows"] == 64);
  CHECK(options["columns"] == 128);
  CHECK(options["roofline"]["memory_bandwidth"] == 7);
  CHECK(options["roofline"]["compute_efficiency"] == 0.5);
  CHECK(options["roofline"]["peak_flops"] == 2 * 37.4e12);
  CHECK(options["roofline"]["per_datatype_flops"]["bf16"] == 2e12);
  CHECK(options["roofline"]["per_datatype_flops"]["f32"] == 2 * 37.4e12);
}

TEST_CASE("a path into the machine's table changes one entry of it") {
  SweepPlan made = plan(
      R"([{"name": "roofline", "grid": {"per_datatype_flops.bf16": [1e12, 2e12]}}])", R"(["A40"])");
  Json table = pointOf(made, 1).options["per_datatype_flops"];
  CHECK(table["bf16"] == 2e12);
  CHECK(table["f32"] == 37.4e12);
}

TEST_CASE("setting a whole table replaces it") {
  SweepPlan made = plan(R"(["roofline"])", R"([{"base": "A40", "name": "flat",
      "set": {"per_datatype_flops": {}, "peak_flops": 5}}])");
  CHECK(pointOf(made, 0).options["per_datatype_flops"].empty());
  CHECK(pointOf(made, 0).options["peak_flops"] == 5);
}

TEST_CASE("a configuration covers what influences results, and nothing else") {
  auto configuration = [](const std::string& estimator, const std::string& hardware,
                          const std::string& reader = "reader 1") {
    return pointOf(plan('[' + estimator + ']', '[' + hardware + ']'), 0, reader).configuration;
  };
  Digest plain = configuration(R"("roofline")", R"("A40")");
  Json elsewhere = pointOf(plan(R"(["roofline"])", R"(["A40"])"), 0).options;
  elsewhere["cache_dir"] = "b";
  CHECK(plain == configurationDigest(test::descriptions().at("roofline"), elsewhere, "reader 1"));
  CHECK(plain == configuration(R"({"name": "roofline", "set": {"compute_efficiency": 1.0}})",
                               R"({"base": "A40", "name": "other"})"));
  CHECK(plain !=
        configuration(R"({"name": "roofline", "set": {"compute_efficiency": 0.9}})", R"("A40")"));
  CHECK(plain != configuration(R"("roofline")", R"("L40S")"));
  CHECK(plain != configuration(R"("roofline")", R"("A40")", "reader 2"));
  CHECK(plain != configuration(R"("counting")", R"("A40")"));
}

TEST_CASE("versions and environment of an estimator are part of its configuration") {
  EstimatorDescription estimator = test::descriptions().at("roofline");
  Json options = {{"peak_flops", 1}};
  Digest before = configurationDigest(estimator, options, "");
  estimator.versions[0].second = 2;
  Digest version = configurationDigest(estimator, options, "");
  estimator.environment = "plug-in 5";
  Digest environment = configurationDigest(estimator, options, "");
  CHECK(std::set<Digest>{before, version, environment}.size() == 3);
}

TEST_CASE("the keys of one module are neighbours") {
  Digest module = hashBytes("module"), other = hashBytes("other");
  Digest a = resultKey(hashBytes("a"), module), b = resultKey(hashBytes("b"), module);
  CHECK(std::equal(a.bytes.begin(), a.bytes.begin() + 8, module.bytes.begin()));
  CHECK(std::equal(a.bytes.begin(), a.bytes.begin() + 8, b.bytes.begin()));
  CHECK(a != b);
  CHECK(a != resultKey(hashBytes("a"), other));
}

TEST_CASE("a plan survives the way through JSON text, machines embedded") {
  SweepPlan made = plan(R"([{"name": "systolic", "set": {"dataflow": "output_stationary"},
                "grid": {"rows": [1, 2]}}])",
                        kTwoGrids);
  made.assume = {3.5, "mean", "f"};
  made.cacheMode = CacheMode::InMemory;
  made.notes = {"a note"};
  SweepPlan again = SweepPlan::fromJson(Json::parse(made.toJson().dump()));
  CHECK(again.toJson() == made.toJson());
  CHECK(again.pointCount() == made.pointCount());
  for (uint64_t i = 0; i < made.pointCount(); ++i) {
    CHECK(pointOf(again, i).configuration == pointOf(made, i).configuration);
    CHECK(again.pointNames(i).hardware == made.pointNames(i).hardware);
  }
  again.modules = made.modules;
  CHECK(again.digest() == made.digest());
  CHECK_THROWS_AS(SweepPlan::fromJson(Json::object()), UsageError);
  CHECK_THROWS_AS(SweepPlan::fromJson(3), UsageError);
  Json broken = made.toJson();
  broken["cache_mode"] = "some";
  CHECK_THROWS_AS(SweepPlan::fromJson(broken), UsageError);
}

TEST_CASE("a plan is identified by what is asked") {
  SweepPlan made = plan(R"(["roofline"])", kTwoGrids);
  SweepPlan other = made;
  other.outputDir = "elsewhere";
  other.cacheDir = "elsewhere/too";
  other.cacheMode = CacheMode::Disabled;
  other.notes = {"x"};
  other.modules[0].path = "another/way/to/it";
  CHECK(other.digest() == made.digest());
  other.modules[0].name = "two.mlir";
  CHECK(other.digest() != made.digest());
  other = made;
  other.assume.tripCount = 2;
  CHECK(other.digest() != made.digest());
  other = made;
  other.hardware[0].grid[0].values[0] = 1.25;
  CHECK(other.digest() != made.digest());
}

TEST_CASE("a plan made by hand works without an index, and is validated") {
  SweepPlan made = plan(R"(["roofline"])", R"(["A40"])");
  HardwareEntry entry = made.hardware[0];
  entry.nameTemplate = "second";
  made.hardware.push_back(entry);
  CHECK(made.pointNames(1).hardware == "second");
  made.validate(test::lookup());
  made.hardware.push_back(entry);
  CHECK_THROWS_AS(made.validate(test::lookup()), UsageError);
  made.hardware.clear();
  CHECK_THROWS_AS(made.validate(test::lookup()), UsageError);
  CHECK_THROWS_AS(made.pointNames(0), Error);
}

TEST_CASE("a plan of a hundred thousand points is made at once, and its points quickly") {
  std::clock_t start = std::clock(); // processor time: other programs may run beside this
  SweepPlan made = plan(R"(["roofline"])", R"([{"base": "H100_SXM_80GB", "grid": {
      "memory_bandwidth": {"from": 1e12, "to": 8e12, "steps": 1000},
      "compute_scale": {"from": 1, "to": 8, "steps": 100, "scale": "log"}}}])");
  double planned = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  REQUIRE(made.pointCount() == 100000);
  start = std::clock();
  std::set<Digest> configurations;
  for (uint64_t i = 0; i < 2000; ++i)
    configurations.insert(pointOf(made, i * 50).configuration);
  double each = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / 2000;
  MESSAGE("planned in " << planned * 1e3 << " ms, " << each * 1e6 << " us a point");
  CHECK(configurations.size() == 2000);
  CHECK(each < 2e-3); // far above the aim: sanitizers are slow
}
