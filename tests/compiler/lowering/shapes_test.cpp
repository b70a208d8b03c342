// Creating, viewing and moving data.
#include <doctest/doctest.h>

#include "tests/compiler/lowering/run_operation.h"

using nocturne::compiler::runOperation;

namespace {

const char* const kWhole = "[[1, 2, 3], [4, 5, 6]]";

std::string runOnMatrix(const std::string& operation, const std::string& type,
                        const std::string& expected) {
  return runOperation({{"tensor<2x3xi32>", kWhole}},
                      "%out = stablehlo." + operation + " : (tensor<2x3xi32>) -> " + type,
                      {type, expected});
}

std::string runPad(const std::string& amounts, const std::string& type,
                   const std::string& expected) {
  return runOperation({{"tensor<3xi32>", "[1, 2, 3]"}, {"tensor<i32>", "9"}},
                      "%out = stablehlo.pad %in0, %in1, " + amounts +
                          " : (tensor<3xi32>, tensor<i32>) -> " + type,
                      {type, expected});
}

} // namespace

TEST_CASE("iota counts along one dimension") {
  CHECK(runOperation({}, "%out = stablehlo.iota dim = 1 : tensor<2x3xui8>",
                     {"tensor<2x3xui8>", "[[0, 1, 2], [0, 1, 2]]"}) == "pass");
  CHECK(runOperation({}, "%out = stablehlo.iota dim = 0 : tensor<2xcomplex<f32>>",
                     {"tensor<2xcomplex<f32>>", "[(0.0, 0.0), (1.0, 0.0)]"}) == "pass");
  CHECK(runOperation({}, "%out = stablehlo.iota dim = 0 : tensor<3xbf16>",
                     {"tensor<3xbf16>", "[0.0, 1.0, 2.0]"}) == "pass");
}

TEST_CASE("constants of every kind reach the code") {
  CHECK(runOperation({}, "%out = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf8E4M3FN>",
                     {"tensor<2xf8E4M3FN>", "[1.0, -2.0]"}) == "pass");
  CHECK(runOperation({}, "%out = stablehlo.constant dense<7> : tensor<40xui16>",
                     {"tensor<40xui16>", "7"}) == "pass");
  CHECK(runOperation({}, "%out = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>",
                     {"tensor<3xi1>", "[true, false, true]"}) == "pass");
  CHECK(runOperation({},
                     "%out = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : "
                     "tensor<2xcomplex<f64>>",
                     {"tensor<2xcomplex<f64>>", "[(1.0, 2.0), (3.0, 4.0)]"}) == "pass");
}

TEST_CASE("broadcasts add, stretch and exchange dimensions") {
  CHECK(runOperation({{"tensor<2xi32>", "[1, 2]"}},
                     "%out = stablehlo.broadcast_in_dim %in0, dims = [0] : (tensor<2xi32>) -> "
                     "tensor<2x3xi32>",
                     {"tensor<2x3xi32>", "[[1, 1, 1], [2, 2, 2]]"}) == "pass");
  CHECK(runOperation({{"tensor<1x2xi32>", "[[1, 2]]"}},
                     "%out = stablehlo.broadcast_in_dim %in0, dims = [0, 1] : (tensor<1x2xi32>) -> "
                     "tensor<2x2xi32>",
                     {"tensor<2x2xi32>", "[[1, 2], [1, 2]]"}) == "pass");
  CHECK(runOnMatrix("broadcast_in_dim %in0, dims = [1, 0]", "tensor<3x2xi32>",
                    "[[1, 4], [2, 5], [3, 6]]") == "pass");
  CHECK(runOperation({{"tensor<2xi32>", "[1, 2]"}},
                     "%out = stablehlo.broadcast %in0, sizes = [2] : (tensor<2xi32>) -> "
                     "tensor<2x2xi32>",
                     {"tensor<2x2xi32>", "[[1, 2], [1, 2]]"}) == "pass");
}

TEST_CASE("reshapes keep the order of elements") {
  CHECK(runOnMatrix("reshape %in0", "tensor<3x2xi32>", "[[1, 2], [3, 4], [5, 6]]") == "pass");
  CHECK(runOnMatrix("reshape %in0", "tensor<1x6x1xi32>", "[[[1], [2], [3], [4], [5], [6]]]") ==
        "pass");
  CHECK(runOperation({{"tensor<1x1xi32>", "5"}},
                     "%out = stablehlo.reshape %in0 : (tensor<1x1xi32>) -> tensor<i32>",
                     {"tensor<i32>", "5"}) == "pass");
}

TEST_CASE("transposes exchange dimensions") {
  CHECK(runOnMatrix("transpose %in0, dims = [1, 0]", "tensor<3x2xi32>",
                    "[[1, 4], [2, 5], [3, 6]]") == "pass");
  CHECK(runOperation({{"tensor<1x3xi32>", "[[1, 2, 3]]"}},
                     "%out = stablehlo.transpose %in0, dims = [1, 0] : (tensor<1x3xi32>) -> "
                     "tensor<3x1xi32>",
                     {"tensor<3x1xi32>", "[[1], [2], [3]]"}) == "pass");
}

TEST_CASE("slices take every so many elements") {
  CHECK(runOnMatrix("slice %in0 [0:2, 0:3:2]", "tensor<2x2xi32>", "[[1, 3], [4, 6]]") == "pass");
}

TEST_CASE("slices at computed places stay inside") {
  std::string slice = "%out = stablehlo.dynamic_slice %in0, %in1, %in2, sizes = [1, 2] : "
                      "(tensor<2x3xi32>, tensor<i32>, tensor<i32>) -> tensor<1x2xi32>";
  CHECK(runOperation({{"tensor<2x3xi32>", kWhole}, {"tensor<i32>", "1"}, {"tensor<i32>", "5"}},
                     slice, {"tensor<1x2xi32>", "[[5, 6]]"}) == "pass");
  CHECK(runOperation({{"tensor<2x3xi32>", kWhole}, {"tensor<i32>", "-3"}, {"tensor<i32>", "0"}},
                     slice, {"tensor<1x2xi32>", "[[1, 2]]"}) == "pass");
  // Large unsigned numbers are large.
  CHECK(runOperation({{"tensor<3xi32>", "[1, 2, 3]"}, {"tensor<ui64>", "18446744073709551615"}},
                     "%out = stablehlo.dynamic_slice %in0, %in1, sizes = [1] : (tensor<3xi32>, "
                     "tensor<ui64>) -> tensor<1xi32>",
                     {"tensor<1xi32>", "[3]"}) == "pass");
  CHECK(runOperation(
            {{"tensor<4xi32>", "[1, 2, 3, 4]"}, {"tensor<2xi32>", "[8, 9]"}, {"tensor<i32>", "3"}},
            "%out = stablehlo.dynamic_update_slice %in0, %in1, %in2 : (tensor<4xi32>, "
            "tensor<2xi32>, tensor<i32>) -> tensor<4xi32>",
            {"tensor<4xi32>", "[1, 2, 8, 9]"}) == "pass");
}

TEST_CASE("padding goes around, between and below zero") {
  CHECK(runPad("low = [1], high = [2], interior = [0]", "tensor<6xi32>", "[9, 1, 2, 3, 9, 9]") ==
        "pass");
  CHECK(runPad("low = [0], high = [0], interior = [1]", "tensor<5xi32>", "[1, 9, 2, 9, 3]") ==
        "pass");
  CHECK(runPad("low = [-1], high = [1], interior = [0]", "tensor<3xi32>", "[2, 3, 9]") == "pass");
  // 1 9 2 9 3 without its first and its last element.
  CHECK(runPad("low = [-1], high = [-1], interior = [1]", "tensor<3xi32>", "[9, 2, 9]") == "pass");
  CHECK(runPad("low = [-1], high = [-1], interior = [0]", "tensor<1xi32>", "[2]") == "pass");
  CHECK(runPad("low = [-4], high = [3], interior = [0]", "tensor<2xi32>", "[9, 9]") == "pass");
}

TEST_CASE("tensors are put one after another and turned round") {
  CHECK(runOperation({{"tensor<2x1xi32>", "[[1], [2]]"}, {"tensor<2x2xi32>", "[[3, 4], [5, 6]]"}},
                     "%out = stablehlo.concatenate %in0, %in1, dim = 1 : (tensor<2x1xi32>, "
                     "tensor<2x2xi32>) -> tensor<2x3xi32>",
                     {"tensor<2x3xi32>", "[[1, 3, 4], [2, 5, 6]]"}) == "pass");
  CHECK(runOperation({{"tensor<2x3xi32>", kWhole}},
                     "%out = stablehlo.reverse %in0, dims = [1] : tensor<2x3xi32>",
                     {"tensor<2x3xi32>", "[[3, 2, 1], [6, 5, 4]]"}) == "pass");
}

TEST_CASE("dynamic forms with a known result are their static forms") {
  CHECK(runOperation({{"tensor<2xi32>", "[1, 2]"}, {"tensor<2xi64>", "[2, 2]"}},
                     "%out = stablehlo.dynamic_broadcast_in_dim %in0, %in1, dims = [1] : "
                     "(tensor<2xi32>, tensor<2xi64>) -> tensor<2x2xi32>",
                     {"tensor<2x2xi32>", "[[1, 2], [1, 2]]"}) == "pass");
  CHECK(runOperation({{"tensor<4xi32>", "[1, 2, 3, 4]"},
                      {"tensor<1xi64>", "[1]"},
                      {"tensor<1xi64>", "[4]"},
                      {"tensor<1xi64>", "[2]"}},
                     "%out = stablehlo.real_dynamic_slice %in0, %in1, %in2, %in3 : "
                     "(tensor<4xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> "
                     "tensor<2xi32>",
                     {"tensor<2xi32>", "[2, 4]"}) == "pass");
  CHECK(runOperation({{"tensor<200xi32>", "7"}},
                     "%start = stablehlo.constant dense<[199]> : tensor<1xui8>\n"
                     "%limit = stablehlo.constant dense<[200]> : tensor<1xui8>\n"
                     "%stride = stablehlo.constant dense<[1]> : tensor<1xui8>\n"
                     "%out = stablehlo.real_dynamic_slice %in0, %start, %limit, %stride : "
                     "(tensor<200xi32>, tensor<1xui8>, tensor<1xui8>, tensor<1xui8>) -> "
                     "tensor<1xi32>",
                     {"tensor<1xi32>", "[7]"}) == "pass");
  CHECK(runOperation({{"tensor<2xi32>", "[1, 2]"}, {"tensor<i32>", "9"}},
                     "%low = stablehlo.constant dense<[1]> : tensor<1xi64>\n"
                     "%high = stablehlo.constant dense<[0]> : tensor<1xi64>\n"
                     "%out = stablehlo.dynamic_pad %in0, %in1, %low, %high, %low : "
                     "(tensor<2xi32>, tensor<i32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) "
                     "-> tensor<4xi32>",
                     {"tensor<4xi32>", "[9, 1, 9, 2]"}) == "pass");
}

TEST_CASE("setting a dimension to the size that it has changes nothing") {
  CHECK(runOperation({{"tensor<2x3xi32>", kWhole}},
                     "%size = stablehlo.constant dense<3> : tensor<i32>\n"
                     "%out = stablehlo.set_dimension_size %in0, %size, dim = 1 : "
                     "(tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>",
                     {"tensor<2x3xi32>", kWhole}) == "pass");
}
