#include "tools/estimate_report.h"

#include <doctest/doctest.h>

#include "estimators/registry.h"

using namespace nocturne;
using namespace nocturne::tools;

namespace {

TensorType matrix(int64_t rows, int64_t columns) {
  TensorType type;
  type.element.kind = ElementKind::F32;
  type.dims = {rows, columns};
  return type;
}

OpInfo dot(int64_t size) {
  OpInfo op;
  op.name = "stablehlo.dot_general";
  op.operands = {matrix(size, size), matrix(size, size)};
  op.results = {matrix(size, size)};
  DotAttributes attributes;
  attributes.lhsContracting = {1};
  attributes.rhsContracting = {0};
  op.attributes = attributes;
  return op;
}

OpInfo tanh(int64_t size) {
  OpInfo op;
  op.name = "stablehlo.tanh";
  op.operands = op.results = {matrix(size, size)};
  return op;
}

OpInfo unknown() {
  OpInfo op;
  op.name = "stablehlo.nobody_knows";
  op.operands = op.results = {matrix(8, 8)};
  return op;
}

struct Fixture {
  Fixture() {
    registerBuiltins(registry);
    const EstimatorDescription& description = *registry.find("roofline");
    const Json machine = {{"peak_flops", 1e12}, {"memory_bandwidth", 1e11}};
    options = resolveOptions(description.options, Json::object(), machine, "");
  }
  EstimatorRegistry registry;
  Json options;
};

EstimateReport makeReport(Fixture& fixture, Module module) {
  EstimateReport report;
  report.name = "a.mlir";
  report.point.estimator = "roofline";
  report.point.hardware = "box";
  report.point.options = fixture.options;
  report.point.memoryCapacity = 1e9;
  report.module = std::make_shared<const Module>(std::move(module));
  report.operations =
      operationCosts(*report.module, *fixture.registry.create("roofline", fixture.options));
  const auto estimator = fixture.registry.create("roofline", fixture.options);
  try {
    report.result = estimator->estimate(*report.module, "", nullptr, false);
    report.statistics = estimator->getStatistics();
  } catch (const ItemError& error) {
    report.failure = error.failure();
  }
  return report;
}

} // namespace

TEST_CASE_FIXTURE(Fixture, "operations add up to the module, the longest first") {
  const EstimateReport report =
      makeReport(*this, ModuleBuilder("m").add(tanh(64)).add(dot(512), 3).add(tanh(64)).build());
  REQUIRE(report.operations.size() == 2);
  const OperationCost& first = report.operations[0];
  CHECK(report.module->ops[first.op].name == "stablehlo.dot_general");
  CHECK(first.runs == 3);
  CHECK((first.bound == Bound::Compute));
  CHECK((report.operations[1].bound == Bound::Memory));
  CHECK(report.operations[1].runs == 2);
  REQUIRE(report.result);
  const double sum = report.operations[0].totalRuntime() + report.operations[1].totalRuntime();
  CHECK(sum == doctest::Approx(*report.result->runtime));
}

TEST_CASE_FIXTURE(Fixture, "the JSON form has the columns of results.csv and the operations") {
  const EstimateReport report =
      makeReport(*this, ModuleBuilder("m").add(dot(128)).add(tanh(64)).build());
  const OrderedJson json = toJson(report);
  CHECK(json["status"] == "ok");
  CHECK(json["fits_memory"] == "yes");
  CHECK(json["coverage"] == 1);
  CHECK(json["failure"].is_null());
  REQUIRE(json["ops"].size() == 2);
  CHECK(json["ops"][0]["operands"][0] == "128x128xf32");
  double share = 0;
  for (const OrderedJson& operation : json["ops"])
    share += operation["share"].get<double>();
  CHECK(share == doctest::Approx(1));
  CHECK(json["statistics"].contains("runtime"));
  CHECK(json["options"]["peak_flops"] == 1e12);
}

TEST_CASE_FIXTURE(Fixture, "an operation without a rule fails the module and only its own line") {
  const EstimateReport report =
      makeReport(*this, ModuleBuilder("m").add(dot(128)).add(unknown()).build());
  REQUIRE(report.failure);
  CHECK((report.failure->kind == FailureKind::UnsupportedOp));
  const OrderedJson json = toJson(report);
  CHECK(json["status"] == "failed");
  CHECK(json["runtime_s"].is_null());
  CHECK(json["ops"][0]["runtime_s"].is_number());
  CHECK(json["ops"][1]["runtime_s"].is_null());
  CHECK(json["ops"][1]["message"].is_string());
  CHECK(toText(report, 20).find("no rule") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "the table for people ends with the totals") {
  const EstimateReport report =
      makeReport(*this, ModuleBuilder("m").add(dot(512)).add(tanh(64)).build());
  const std::string text = toText(report, 1);
  CHECK(text.find("a.mlir on box by roofline") == 0);
  CHECK(text.find("stablehlo.dot_general") != std::string::npos);
  CHECK(text.find("stablehlo.tanh") == std::string::npos);
  CHECK(text.find("and 1 more; --top 0 lists all") != std::string::npos);
  CHECK(text.find("compute for") != std::string::npos);
  CHECK(text.find("100.0 % of 2 operations") != std::string::npos);
  CHECK(text.find("fits memory") != std::string::npos);
}
