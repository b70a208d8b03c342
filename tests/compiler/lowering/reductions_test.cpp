// reduce, reduce_window, select_and_scatter and batch normalisation, with values worked out by
// hand.
#include <string>

#include "tests/compiler/lowering/claims.h"
#include "tests/compiler/lowering/run_operation.h"

using nocturne::compiler::runOperation;
using nocturne::compiler::testing::Claims;

namespace {

// A region that applies one operation to two scalars.
std::string region(const std::string& operation, const std::string& element) {
  const std::string type = "tensor<" + element + ">";
  return "({ ^bb0(%a: " + type + ", %b: " + type + "): %c = \"stablehlo." + operation +
         "\"(%a, %b) : (" + type + ", " + type + ") -> " + type + " \"stablehlo.return\"(%c) : (" +
         type + ") -> () })";
}

std::string reduce(Claims& claims, const std::string& operation, const std::string& element,
                   const std::string& from, const std::string& dense, const std::string& init,
                   const std::string& dimensions, const std::string& to) {
  std::string input = claims.value(from, dense);
  std::string start = claims.value("tensor<" + element + ">", init);
  return claims.result(
      "\"stablehlo.reduce\"(" + input + ", " + start + ") <{dimensions = array<i64" + dimensions +
      ">}> " + region(operation, element) + " : (" + from + ", tensor<" + element + ">) -> " + to);
}

std::string reduceWindow(Claims& claims, const std::string& operation, const std::string& element,
                         const std::string& from, const std::string& dense, const std::string& init,
                         const std::string& window, const std::string& to) {
  std::string input = claims.value(from, dense);
  std::string start = claims.value("tensor<" + element + ">", init);
  return claims.result("\"stablehlo.reduce_window\"(" + input + ", " + start + ") <{" + window +
                       "}> " + region(operation, element) + " : (" + from + ", tensor<" + element +
                       ">) -> " + to);
}

const std::string kMatrix = "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]";

TEST_CASE("reduce takes any set of dimensions") {
  Claims claims;
  const std::string from = "tensor<2x3xf32>";
  claims.equal(reduce(claims, "add", "f32", from, kMatrix, "0.0", ": 0", "tensor<3xf32>"),
               "tensor<3xf32>", "[5.0, 7.0, 9.0]");
  claims.equal(reduce(claims, "add", "f32", from, kMatrix, "10.0", ": 1", "tensor<2xf32>"),
               "tensor<2xf32>", "[16.0, 25.0]");
  claims.equal(reduce(claims, "multiply", "f32", from, kMatrix, "1.0", ": 0, 1", "tensor<f32>"),
               "tensor<f32>", "720.0");
  claims.equal(reduce(claims, "add", "f32", from, kMatrix, "1.0", "", from), from,
               "[[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]");
  claims.equal(
      reduce(claims, "minimum", "f32", "tensor<0x2xf32>", "", "7.0", ": 0", "tensor<2xf32>"),
      "tensor<2xf32>", "7.0");
  claims.hold();
}

TEST_CASE("reduce keeps NaN, signs of integers and booleans") {
  Claims claims;
  claims.equal(reduce(claims, "maximum", "f32", "tensor<3xf32>", "[1.0, 0x7FC00000, 2.0]",
                      "0xFF800000", ": 0", "tensor<f32>"),
               "tensor<f32>", "0x7FC00000");
  claims.equal(
      reduce(claims, "maximum", "ui8", "tensor<3xui8>", "[1, 200, 100]", "0", ": 0", "tensor<ui8>"),
      "tensor<ui8>", "200");
  claims.equal(
      reduce(claims, "maximum", "i8", "tensor<3xi8>", "[1, -56, 100]", "-128", ": 0", "tensor<i8>"),
      "tensor<i8>", "100");
  claims.equal(reduce(claims, "and", "i1", "tensor<2x2xi1>", "[[true, false], [true, true]]",
                      "true", ": 1", "tensor<2xi1>"),
               "tensor<2xi1>", "[false, true]");
  claims.hold();
}

TEST_CASE("sums of narrow floats are rounded once") {
  // Each addition rounded would leave 256, whose neighbour in bf16 is 258.
  Claims claims;
  claims.equal(reduce(claims, "add", "bf16", "tensor<5xbf16>", "[256.0, 1.0, 1.0, 1.0, 1.0]", "0.0",
                      ": 0", "tensor<bf16>"),
               "tensor<bf16>", "260.0");
  claims.equal(reduce(claims, "add", "f16", "tensor<3xf16>", "[2048.0, 1.0, 1.0]", "0.0", ": 0",
                      "tensor<f16>"),
               "tensor<f16>", "2050.0");
  claims.hold();
}

TEST_CASE("reduce of two operands finds the place of the largest") {
  Claims claims;
  std::string values = claims.value("tensor<2x3xf32>", "[[1.0, 9.0, 3.0], [4.0, 5.0, 6.0]]");
  std::string places = claims.value("tensor<2x3xi32>", "[[0, 1, 2], [0, 1, 2]]");
  std::string least = claims.value("tensor<f32>", "0xFF800000"),
              none = claims.value("tensor<i32>", "-1");
  std::vector<std::string> found = claims.results(2, "\"stablehlo.reduce\"(" + values + ", " +
                                                         places + ", " + least + ", " + none +
                                                         R"() <{dimensions = array<i64: 1>}> ({
      ^bb0(%x: tensor<f32>, %i: tensor<i32>, %y: tensor<f32>, %j: tensor<i32>):
        %more = stablehlo.compare GT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %value = stablehlo.select %more, %x, %y : tensor<i1>, tensor<f32>
        %place = stablehlo.select %more, %i, %j : tensor<i1>, tensor<i32>
        "stablehlo.return"(%value, %place) : (tensor<f32>, tensor<i32>) -> ()
      }) : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>)
        -> (tensor<2xf32>, tensor<2xi32>))");
  claims.equal(found[0], "tensor<2xf32>", "[9.0, 6.0]");
  claims.equal(found[1], "tensor<2xi32>", "[1, 2]");
  claims.hold();
}

TEST_CASE("the largest of many columns of bf16 is found without a function of another library") {
  // So many columns that the optimiser makes vectors of the accumulators.
  std::string values, places;
  for (int row = 0; row < 18; ++row) {
    std::string numbers;
    for (int column = 0; column < 12; ++column)
      numbers += std::string(column ? ", " : "") + std::to_string(row) + ".0";
    values += std::string(row ? ", [" : "[") + numbers + "]";
  }
  for (int column = 0; column < 12; ++column)
    places += std::string(column ? ", " : "") + "17";
  CHECK(runOperation({{"tensor<18x12xbf16>", "[" + values + "]"}}, R"(
      %numbers = stablehlo.iota dim = 0 : tensor<18x12xi32>
      %lowest = stablehlo.constant dense<0xFF80> : tensor<bf16>
      %none = stablehlo.constant dense<0> : tensor<i32>
      %largest, %out = "stablehlo.reduce"(%in0, %numbers, %lowest, %none) <{dimensions = array<i64: 0>}> ({
      ^bb0(%a: tensor<bf16>, %i: tensor<i32>, %b: tensor<bf16>, %j: tensor<i32>):
        %greater = stablehlo.compare GT, %a, %b, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
        %value = stablehlo.select %greater, %a, %b : tensor<i1>, tensor<bf16>
        %place = stablehlo.select %greater, %i, %j : tensor<i1>, tensor<i32>
        stablehlo.return %value, %place : tensor<bf16>, tensor<i32>
      }) : (tensor<18x12xbf16>, tensor<18x12xi32>, tensor<bf16>, tensor<i32>)
        -> (tensor<12xbf16>, tensor<12xi32>))",
                     {"tensor<12xi32>", "[" + places + "]"}) == "pass");
}

TEST_CASE("reduce_window strides, dilates and pads") {
  Claims claims;
  claims.equal(
      reduceWindow(claims, "add", "i64", "tensor<3x2xi64>", "[[1, 2], [3, 4], [5, 6]]", "0",
                   "window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, "
                   "base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, "
                   "padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>",
                   "tensor<2x2xi64>"),
      "tensor<2x2xi64>", "[[0, 0], [3, 4]]");
  claims.equal(reduceWindow(claims, "maximum", "f32", "tensor<4xf32>", "[4.0, 1.0, 2.0, 3.0]",
                            "0xFF800000",
                            "window_dimensions = array<i64: 2>, window_strides = array<i64: 2>, "
                            "padding = dense<[[-1, 1]]> : tensor<1x2xi64>",
                            "tensor<2xf32>"),
               "tensor<2xf32>", "[2.0, 3.0]");
  claims.equal(reduceWindow(claims, "add", "f32", "tensor<2x2xf32>", "[[1.0, 2.0], [3.0, 4.0]]",
                            "0.0", "window_dimensions = array<i64: 1, 1>", "tensor<2x2xf32>"),
               "tensor<2x2xf32>", "[[1.0, 2.0], [3.0, 4.0]]");
  claims.hold();
}

TEST_CASE("windows over all that came before are cumulative sums") {
  Claims claims;
  const std::string type = "tensor<2x3xf32>";
  auto window = [](const std::string& sizes, const std::string& padding) {
    return "window_dimensions = array<i64: " + sizes + ">, padding = dense<" + padding +
           "> : tensor<2x2xi64>";
  };
  claims.equal(reduceWindow(claims, "add", "f32", type, kMatrix, "0.0",
                            window("1, 3", "[[0, 0], [2, 0]]"), type),
               type, "[[1.0, 3.0, 6.0], [4.0, 9.0, 15.0]]");
  claims.equal(reduceWindow(claims, "add", "f32", type, kMatrix, "0.0",
                            window("1, 3", "[[0, 0], [0, 2]]"), type),
               type, "[[6.0, 5.0, 3.0], [15.0, 11.0, 6.0]]");
  claims.equal(reduceWindow(claims, "multiply", "f32", type, kMatrix, "1.0",
                            window("2, 1", "[[1, 0], [0, 0]]"), type),
               type, "[[1.0, 2.0, 3.0], [4.0, 10.0, 18.0]]");
  // An initial value that is added once for each place in the padding.
  claims.equal(reduceWindow(claims, "add", "f32", type, kMatrix, "1.0",
                            window("1, 3", "[[0, 0], [2, 0]]"), type),
               type, "[[4.0, 5.0, 7.0], [7.0, 11.0, 16.0]]");
  claims.hold();
}

TEST_CASE("windows round narrow floats at every step") {
  Claims claims;
  const std::string type = "tensor<5xbf16>", scalars = "[256.0, 1.0, 1.0, 1.0, 1.0]";
  // 257 and 259 are not numbers of bf16; what is even is nearer.
  claims.equal(reduceWindow(claims, "add", "bf16", type, scalars, "0.0",
                            "window_dimensions = array<i64: 5>", "tensor<1xbf16>"),
               "tensor<1xbf16>", "[256.0]");
  claims.equal(reduceWindow(claims, "add", "bf16", type, scalars, "0.0",
                            "window_dimensions = array<i64: 5>, "
                            "padding = dense<[[4, 0]]> : tensor<1x2xi64>",
                            type),
               type, "[256.0, 256.0, 256.0, 256.0, 256.0]");
  claims.hold();
}

TEST_CASE("windows up to the end combine their places from the first on") {
  Claims claims;
  const std::string type = "tensor<3xf32>", scalars = "[16777216.0, 1.0, 1.0]";
  // From the end it would be 16777218.
  claims.equal(reduceWindow(claims, "add", "f32", type, scalars, "0.0",
                            "window_dimensions = array<i64: 3>, "
                            "padding = dense<[[0, 2]]> : tensor<1x2xi64>",
                            type),
               type, "[16777216.0, 2.0, 1.0]");
  claims.hold();
}

TEST_CASE("select_and_scatter adds what overlapping windows select") {
  Claims claims;
  std::string operand = claims.value("tensor<4x2xi64>", "[[1, 5], [2, 5], [3, 6], [4, 4]]");
  std::string source = claims.value("tensor<2x2xi64>", "[[5, 6], [7, 8]]");
  std::string init = claims.value("tensor<i64>", "0");
  std::string select = "({ ^bb0(%a: tensor<i64>, %b: tensor<i64>): %c = stablehlo.compare GE, %a, "
                       "%b : (tensor<i64>, tensor<i64>) -> tensor<i1> "
                       "\"stablehlo.return\"(%c) : (tensor<i1>) -> () }";
  claims.equal(claims.result("\"stablehlo.select_and_scatter\"(" + operand + ", " + source + ", " +
                             init +
                             ") <{window_dimensions = array<i64: 3, 1>, window_strides = "
                             "array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : "
                             "tensor<2x2xi64>}> " +
                             select + ", " + region("add", "i64").substr(1) +
                             " : (tensor<4x2xi64>, tensor<2x2xi64>, tensor<i64>) -> "
                             "tensor<4x2xi64>"),
               "tensor<4x2xi64>", "[[0, 0], [0, 0], [5, 14], [7, 0]]");
  claims.hold();
}

const std::string kFeatures = "tensor<2xf32>", kCube = "tensor<2x2x2xf32>";
const std::string kCubeValues = "[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]";
const std::string kNormalised = "[[[0.0, 0.0], [2.0, 2.0]], [[2.0, 2.0], [0.0, 0.0]]]";
const std::string kNorm = ") <{epsilon = 0.0 : f32, feature_index = 2 : i64}> : (";

TEST_CASE("batch normalisation subtracts means and divides by deviations") {
  Claims claims;
  std::string operand = claims.value(kCube, kCubeValues), one = claims.value(kFeatures, "1.0");
  std::string mean = claims.value(kFeatures, "[2.0, 3.0]");
  std::string output =
      claims.result("\"stablehlo.batch_norm_inference\"(" + operand + ", " + one + ", " + one +
                    ", " + mean + ", " + one + kNorm + kCube +
                    ", tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> " + kCube);
  claims.equal(output, kCube, kNormalised);
  std::vector<std::string> trained = claims.results(
      3, "\"stablehlo.batch_norm_training\"(" + operand + ", " + one + ", " + one + kNorm + kCube +
             ", tensor<2xf32>, tensor<2xf32>) -> (" + kCube + ", tensor<2xf32>, tensor<2xf32>)");
  claims.equal(trained[0], kCube, kNormalised);
  claims.equal(trained[1], kFeatures, "[2.0, 3.0]");
  claims.equal(trained[2], kFeatures, "1.0");
  claims.hold();
}

TEST_CASE("the gradient of batch normalisation has no mean and no slope") {
  Claims claims;
  std::string operand = claims.value("tensor<4x1xf32>", "[[-1.0], [-1.0], [1.0], [1.0]]");
  std::string one = claims.value("tensor<1xf32>", "1.0"),
              zero = claims.value("tensor<1xf32>", "0.0");
  std::string grad = claims.value("tensor<4x1xf32>", "[[1.0], [0.0], [0.0], [0.0]]");
  std::vector<std::string> grads = claims.results(
      3, "\"stablehlo.batch_norm_grad\"(" + operand + ", " + one + ", " + zero + ", " + one + ", " +
             grad + ") <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<4x1xf32>, " +
             "tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<4x1xf32>) -> " +
             "(tensor<4x1xf32>, tensor<1xf32>, tensor<1xf32>)");
  claims.equal(grads[0], "tensor<4x1xf32>", "[[0.5], [-0.5], [0.0], [0.0]]");
  claims.equal(grads[1], "tensor<1xf32>", "-1.0");
  claims.equal(grads[2], "tensor<1xf32>", "1.0");
  claims.hold();
}

TEST_CASE("a function of more loops than are compiled in one piece computes what it did") {
  // The mean of equal numbers, over and over: each step is a sum and a loop that spreads it.
  Claims claims;
  const std::string vector = "tensor<4xf32>", scalar = "tensor<f32>";
  std::string x = claims.value(vector, "[3.0, 3.0, 3.0, 3.0]");
  const std::string quarter = claims.value(vector, "0.25"), zero = claims.value(scalar, "0.0");
  for (int step = 0; step < 40; ++step) {
    std::string sum = claims.result("\"stablehlo.reduce\"(" + x + ", " + zero +
                                    ") <{dimensions = array<i64: 0>}> " + region("add", "f32") +
                                    " : (" + vector + ", " + scalar + ") -> " + scalar);
    std::string spread = claims.result("stablehlo.broadcast_in_dim " + sum + ", dims = [] : (" +
                                       scalar + ") -> " + vector);
    x = claims.result("stablehlo.multiply " + spread + ", " + quarter + " : " + vector);
  }
  claims.equal(x, vector, "[3.0, 3.0, 3.0, 3.0]");
  claims.hold();
}

} // namespace
