#include "compiler/execution/program.h"

#include <doctest/doctest.h>

#include "engine/error.h"

namespace nocturne::compiler {

namespace {

ProgramReport runText(const std::string& text, const std::vector<std::string>& inputs = {}) {
  ProgramOptions options;
  options.inputs = inputs;
  return runProgramText(text, "test.mlir", options);
}

// The sum, product or what else `region` makes of four elements of %x and %y, with `others` behind
// the function.
ProgramReport runReduction(const std::string& element, const std::string& region,
                           const std::string& others) {
  const std::string scalar = "tensor<" + element + ">", line = "tensor<4x" + element + ">";
  return runText("func.func @main(%a: " + line + ") -> " + scalar + " {\n" +
                     "  %0 = stablehlo.constant dense<0> : " + scalar + "\n" +
                     "  %1 = \"stablehlo.reduce\"(%a, %0) ({\n  ^bb0(%x: " + scalar +
                     ", %y: " + scalar + "):\n" + region + "    stablehlo.return %2 : " + scalar +
                     "\n  }) {dimensions = array<i64: 0>} : (" + line + ", " + scalar + ") -> " +
                     scalar + "\n  return %1 : " + scalar + "\n}\n" + others,
                 {"ones"});
}

std::string checkedSum(const std::string& expected) {
  return R"(
func.func @main() -> tensor<3xf32> {
  %0:2 = call @inputs() : () -> (tensor<3xf32>, tensor<3xf32>)
  %1 = call @expected() : () -> tensor<3xf32>
  %2 = stablehlo.add %0#0, %0#1 : tensor<3xf32>
  stablehlo.custom_call @check.expect_close(%2, %1) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  return %2 : tensor<3xf32>
}
func.func private @inputs() -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %1 = stablehlo.constant dense<10.0> : tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}
func.func private @expected() -> tensor<3xf32> {
  %0 = stablehlo.constant dense<)" +
         expected + R"(> : tensor<3xf32>
  return %0 : tensor<3xf32>
})";
}

// Products with the matrix that moves every column by one; after 16 layers all are back.
std::string layers(size_t count) {
  std::string body, last = "%0";
  for (size_t i = 0; i < count; ++i) {
    std::string name = "%layer" + std::to_string(i);
    body += "  " + name + " = stablehlo.dot_general " + last +
            ", %turn, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> "
            "tensor<16x16xf32>\n";
    last = name;
  }
  return R"(
func.func @main() {
  %0 = call @inputs() : () -> tensor<16x16xf32>
  %row = stablehlo.iota dim = 0 : tensor<16x16xi32>
  %column = stablehlo.iota dim = 1 : tensor<16x16xi32>
  %one = stablehlo.constant dense<1> : tensor<16x16xi32>
  %width = stablehlo.constant dense<16> : tensor<16x16xi32>
  %next = stablehlo.add %row, %one : tensor<16x16xi32>
  %wrapped = stablehlo.remainder %next, %width : tensor<16x16xi32>
  %here = stablehlo.compare EQ, %wrapped, %column : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
  %turn = stablehlo.convert %here : (tensor<16x16xi1>) -> tensor<16x16xf32>
)" + body +
         "  stablehlo.custom_call @check.expect_eq(" + last +
         R"(, %0) : (tensor<16x16xf32>, tensor<16x16xf32>) -> ()
  return
}
func.func private @inputs() -> tensor<16x16xf32> {
  %0 = stablehlo.iota dim = 1 : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
})";
}

size_t countOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

} // namespace

TEST_CASE("equal layers of a large function share code and keep their own values") {
  ProgramOptions options;
  options.compile.keepStages = true;
  ProgramReport report = runProgramText(layers(64), "test.mlir", options);
  CHECK(report.message == "");
  CHECK((report.outcome == Outcome::Pass));
  size_t functions = countOf(report.stages.back().second, "\ndefine ");
  CHECK(functions > 3); // the entry points and bodies of @main and @inputs, and the layers' loops
  CHECK(functions < 30);
  CHECK((runProgramText(layers(63), "test.mlir", options).outcome == Outcome::Mismatch));
}

TEST_CASE("a program whose checks hold passes") {
  ProgramReport report = runText(checkedSum("[11.0, 12.0, 13.0]"));
  CHECK(report.message == "");
  CHECK((report.outcome == Outcome::Pass));
  CHECK(report.operations == std::vector<std::string>{"stablehlo.add"});
  REQUIRE(report.results.size() == 1);
  CHECK(report.results[0].text() == "f32[3] = [11, 12, 13]");
}

TEST_CASE("a check that does not hold says where") {
  ProgramReport report = runText(checkedSum("[11.0, 12.0, 14.0]"));
  CHECK((report.outcome == Outcome::Mismatch));
  CHECK(report.message == "check.expect_close at line 6: element [2] is 13, expected 14 (1048576 "
                          "ulp); 1 of 3 differ");
}

TEST_CASE("a check of values of different types is a mistake of the program, with its place") {
  ProgramReport report = runText("func.func @main(%a: tensor<f32>, %b: tensor<1xf32>) {\n"
                                 "  \"check.expect_eq\"(%a, %b) : (tensor<f32>, tensor<1xf32>) -> "
                                 "()\n  return\n}",
                                 {"ones"});
  CHECK((report.outcome == Outcome::Unreadable));
  CHECK(report.message ==
        "test.mlir:2:3: the check 'check.expect_eq' compares values of different types");
}

TEST_CASE("programs without checks take inputs") {
  const std::string text =
      "func.func @main(%a: tensor<2xi32>, %b: tensor<2xi32>) -> tensor<2xi32> {\n"
      "  %0 = stablehlo.add %a, %b : tensor<2xi32>\n"
      "  return %0 : tensor<2xi32>\n}";
  ProgramReport report = runText(text, {"ones", "zeros"});
  CHECK((report.outcome == Outcome::Ran));
  REQUIRE(report.results.size() == 1);
  CHECK(report.results[0].text() == "i32[2] = [1, 1]");
  CHECK(runText(text, {"random:7"}).results[0].text() ==
        runText(text, {"random:7"}).results[0].text());
  CHECK_THROWS_AS(runText(text), UsageError);
  CHECK_THROWS_AS(runText(text, {"ones", "ones", "ones"}), UsageError);
  CHECK_THROWS_AS(runText(text, {"random:x"}), UsageError);
}

TEST_CASE("a check operation has its own tolerance") {
  auto text = [](const std::string& most) {
    return R"(
func.func @main(%a: tensor<f32>) {
  %0 = stablehlo.constant dense<1.0000012> : tensor<f32>
  "check.expect_close"(%a, %0) {max_ulp_difference = )" +
           most + " : ui64} : (tensor<f32>, tensor<f32>) -> ()\n  return\n}";
  };
  CHECK((runText(text("10"), {"ones"}).outcome == Outcome::Pass));
  CHECK((runText(text("9"), {"ones"}).outcome == Outcome::Mismatch));
}

TEST_CASE("a check operation may have what it expects as an attribute") {
  auto text = [](const std::string& expected) {
    return R"(
func.func @main(%a: tensor<2xf32>) {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  "check.expect_almost_eq_const"(%0) <{value = dense<)" +
           expected + "> : tensor<2xf32>}> : (tensor<2xf32>) -> ()\n  return\n}";
  };
  CHECK((runText(text("2.00001"), {"ones"}).outcome == Outcome::Pass));
  CHECK((runText(text("2.1"), {"ones"}).outcome == Outcome::Mismatch));
}

TEST_CASE("functions of a module may have the names of C's library") {
  ProgramReport report = runText(R"(
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @expm1(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @expm1(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.exponential_minus_one %a : tensor<2xf32>
  return %0 : tensor<2xf32>
})",
                                 {"zeros"});
  CHECK(report.message == "");
  REQUIRE(report.results.size() == 1);
  CHECK(report.results[0].text() == "f32[2] = [0, 0]");
}

const std::string kCallsSum =
    "    %2 = func.call @sum(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>\n";

TEST_CASE("functions that are applied to elements may call others") {
  ProgramReport report = runReduction("i32", kCallsSum, R"(
func.func private @sum(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.add %a, %b : tensor<i32>
  return %0 : tensor<i32>
})");
  CHECK(report.message == "");
  REQUIRE(report.results.size() == 1);
  CHECK(report.results[0].text() == "i32[] = 4");
}

TEST_CASE("a function that is applied to elements and calls itself is refused") {
  ProgramReport report = runReduction("i32", kCallsSum, R"(
func.func private @sum(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %0 = func.call @sum(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %1 = func.call @sum(%b, %a) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %2 = stablehlo.add %0, %1 : tensor<i32>
  return %2 : tensor<i32>
})");
  CHECK((report.outcome == Outcome::Unreadable));
}

TEST_CASE("inputs are not overwritten, and come back as copies") {
  ProgramReport report = runText(R"(
func.func @main(%a: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %0 = stablehlo.constant dense<7> : tensor<1xi32>
  %1 = stablehlo.constant dense<2> : tensor<i32>
  %2 = stablehlo.dynamic_update_slice %a, %0, %1 : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
  return %2, %a, %2 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
})",
                                 {"ones"});
  CHECK(report.message == "");
  REQUIRE(report.results.size() == 3);
  CHECK(report.results[0].text() == "i32[4] = [1, 1, 7, 1]");
  CHECK(report.results[1].text() == "i32[4] = [1, 1, 1, 1]");
  CHECK(report.results[2].text() == "i32[4] = [1, 1, 7, 1]");
}

TEST_CASE("what cannot be read or compiled is told apart") {
  CHECK((runText("func.func @main(").outcome == Outcome::Unreadable));
  CHECK((runText("func.func private @helper() {\n  return\n}").outcome == Outcome::Unreadable));
  ProgramReport report = runText("func.func @main(%a: tensor<f32>) -> tensor<f32> {\n"
                                 "  %0 = \"other.thing\"(%a) : (tensor<f32>) -> tensor<f32>\n"
                                 "  return %0 : tensor<f32>\n}",
                                 {"ones"});
  CHECK((report.outcome == Outcome::NoLowering));
  CHECK(report.blockedBy == "other.thing");
}

TEST_CASE("a region whose constant the text leaves out has no lowering") {
  for (const char* constant : {"dense_resource<__elided__>", "dense_resource<apart>"}) {
    ProgramReport report =
        runReduction("i32",
                     std::string("    %3 = stablehlo.constant ") + constant +
                         " : tensor<i32>\n    %2 = stablehlo.add %x, %3 : tensor<i32>\n",
                     R"({-# dialect_resources: {builtin: {apart: "0x0400000001000000"}} #-})");
    CHECK((report.outcome == Outcome::NoLowering));
    CHECK(report.message.find("test.mlir:5:10: ") == 0);
  }
}

} // namespace nocturne::compiler
