#include "tools/trace.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace nocturne;
using namespace nocturne::tools;

namespace {

OpInfo named(const std::string& name) {
  OpInfo op;
  op.name = name;
  return op;
}

// Operations of 2 us, nothing, and 0.5 us; the last runs three times.
EstimateReport report() {
  EstimateReport report;
  report.name = "a.mlir";
  report.point.estimator = "roofline";
  report.point.hardware = "box";
  report.module = std::make_shared<const Module>(ModuleBuilder("m")
                                                     .add(named("stablehlo.add"))
                                                     .add(named("stablehlo.reshape"))
                                                     .add(named("stablehlo.dot"), 3)
                                                     .build());
  OperationCost add, reshape, dot;
  add.op = 0;
  add.runtime = 2e-6;
  add.bytes = 100;
  add.bound = Bound::Memory;
  reshape.op = 1;
  reshape.runtime = 0;
  dot.op = 2;
  dot.runtime = 0.5e-6;
  dot.flops = 1000;
  dot.bound = Bound::Compute;
  report.operations = {add, dot, reshape};
  return report;
}

std::vector<nlohmann::json> slicesOf(const Trace& trace) {
  std::vector<nlohmann::json> slices;
  const nlohmann::json all = nlohmann::json::parse(trace.json);
  for (const nlohmann::json& event : all.at("traceEvents"))
    if (event.at("ph") == "X")
      slices.push_back(event);
  return slices;
}

} // namespace

TEST_CASE("operations follow each other, as long as all of their runs") {
  const std::vector<nlohmann::json> slices = slicesOf(traceOf(report(), 100));
  REQUIRE(slices.size() == 2); // the free one takes no time
  CHECK(slices[0].at("name") == "add");
  CHECK(slices[0].at("ts") == 0);
  CHECK(slices[0].at("dur") == doctest::Approx(2));
  CHECK(slices[0].at("args").at("bound") == "memory");
  CHECK(slices[1].at("name") == "dot");
  CHECK(slices[1].at("ts") == doctest::Approx(2));
  CHECK(slices[1].at("dur") == doctest::Approx(1.5));
  CHECK(slices[1].at("args").at("runs") == 3);
  CHECK(slices[1].at("args").at("flops") == 3000);
}

TEST_CASE("a timeline that is cut says so, in the file and to the caller") {
  const Trace trace = traceOf(report(), 1);
  CHECK(slicesOf(trace).size() == 1);
  CHECK(trace.shown == 2); // the free operation is through as well
  CHECK(trace.operations == 3);
  CHECK(trace.json.find("cut: 1 more operations follow") != std::string::npos);
  CHECK(traceOf(report(), 2).json.find("cut:") == std::string::npos);
}

TEST_CASE("names of files are escaped") {
  EstimateReport strange = report();
  strange.name = "a\"b\\c\xff.mlir";
  CHECK_NOTHROW(nlohmann::json::parse(traceOf(strange, 100).json));
}
