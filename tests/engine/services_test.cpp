#include "engine/services.h"

#include <doctest/doctest.h>

using namespace nocturne;

namespace {

EstimatorResult result() {
  EstimatorResult made;
  made.runtime = 1.5e-6;
  made.flops = 3e9;
  made.bytes = 2e6;
  made.coveredRuns = 7;
  made.totalRuns = 9.5;
  made.uncovered = {{"custom_call:f\"oo", 2}, {"stablehlo.while", 0.5}};
  made.assumedRates = {ElementKind::I32, ElementKind::BF16};
  return made;
}

} // namespace

TEST_CASE("a result survives the way through a row") {
  EstimatorResult made = result();
  ResultRow row = toRow(made, -1);
  CHECK(row.notes == R"({"assumed_rates":["i32","bf16"],"uncovered":[["custom_call:f\"oo",2],)"
                     R"(["stablehlo.while",0.5]]})");
  EstimatorResult again = fromRow(row);
  CHECK(again.success);
  CHECK(again.runtime == made.runtime);
  CHECK(again.coverage() == made.coverage());
  CHECK(again.uncovered == made.uncovered);
  CHECK(again.assumedRates == made.assumedRates);
  CHECK(toRow(again, -1) == row);
}

TEST_CASE("a row without remarks has no notes") {
  EstimatorResult made;
  CHECK(toRow(made, -1).notes.empty());
  CHECK(fromRow(toRow(made, -1)).coverage() == 1.0);
}

TEST_CASE("a failure keeps its kind and message, but no place") {
  EstimatorResult made;
  made.success = false;
  made.failure = Failure{FailureKind::UnsupportedOp, "no rule", "a.mlir", 3, 4};
  ResultRow row = toRow(made, 5);
  CHECK(row.failureOp == 5);
  EstimatorResult again = fromRow(row);
  CHECK_FALSE(again.success);
  CHECK(again.failure == Failure{FailureKind::UnsupportedOp, "no rule", "", 0, 0});
  CHECK(toRow(result(), 5).failureOp == -1);
}

TEST_CASE("broken notes are an error") {
  ResultRow row;
  for (const char* notes : {"{", "[]", R"({"uncovered": [["x"]]})", R"({"uncovered": 3})",
                            R"({"assumed_rates": ["f99"]})", R"({"assumed_rates": [1]})"}) {
    CAPTURE(notes);
    row.notes = notes;
    CHECK_THROWS_AS(fromRow(row), Error);
  }
}

TEST_CASE("the facts of a module are those of its table") {
  OpInfo op;
  op.name = "stablehlo.add";
  Module module = ModuleBuilder("m").add(op, 3).build();
  module.peakBytes = 12;
  module.assumptions = {{"trip_count", "1", "a.mlir:3:4"}};
  ModuleFacts facts = factsOf(module);
  CHECK(facts.contentHash == module.contentHash);
  CHECK(facts.fingerprint == module.fingerprint);
  CHECK(facts.rows == 1);
  CHECK(facts.peakBytes == 12);
  CHECK(facts.assumptions == module.assumptions);
}
