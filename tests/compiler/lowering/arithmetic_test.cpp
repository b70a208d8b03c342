// Arithmetic on numbers at the ends of their range.
#include <doctest/doctest.h>

#include "tests/compiler/lowering/run_operation.h"

using nocturne::compiler::runOperation;
using nocturne::compiler::TestValue;

namespace {

std::string runBinary(const std::string& name, const std::string& type, const std::string& lhs,
                      const std::string& rhs, const std::string& expected) {
  return runOperation({{type, lhs}, {type, rhs}},
                      "%out = stablehlo." + name + " %in0, %in1 : " + type, {type, expected});
}

std::string runUnary(const std::string& name, const std::string& type, const std::string& operand,
                     const std::string& expected) {
  return runOperation({{type, operand}}, "%out = stablehlo." + name + " %in0 : " + type,
                      {type, expected});
}

// Compares bits, which tell the zeros apart.
std::string runUnaryBits(const std::string& name, const std::string& operand,
                         const std::string& expected) {
  return runOperation({{"tensor<4xf32>", operand}},
                      "%x = stablehlo." + name +
                          " %in0 : tensor<4xf32>\n"
                          "%out = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xui32>",
                      {"tensor<4xui32>", expected});
}

std::string runCompare(const std::string& direction, const std::string& kind,
                       const std::string& type, const std::string& lhs, const std::string& rhs,
                       const std::string& expected) {
  std::string count = type.substr(7, type.find('x') - 7);
  std::string booleans = "tensor<" + count + "xi1>";
  return runOperation({{type, lhs}, {type, rhs}},
                      "%out = stablehlo.compare " + direction + ", %in0, %in1, " + kind + " : (" +
                          type + ", " + type + ") -> " + booleans,
                      {booleans, expected});
}

} // namespace

TEST_CASE("integer division has a result for every divisor") {
  CHECK(runBinary("divide", "tensor<5xi32>", "[7, -7, 5, -2147483648, 0]", "[2, 2, 0, -1, 0]",
                  "[3, -3, -1, -2147483648, -1]") == "pass");
  CHECK(runBinary("remainder", "tensor<5xi32>", "[7, -7, 5, -2147483648, 0]", "[2, 2, 0, -1, 0]",
                  "[1, -1, 5, 0, 0]") == "pass");
  CHECK(runBinary("divide", "tensor<3xui8>", "[200, 255, 9]", "[3, 0, 255]", "[66, 255, 0]") ==
        "pass");
  CHECK(runBinary("remainder", "tensor<3xui8>", "[200, 255, 9]", "[3, 0, 255]", "[2, 255, 9]") ==
        "pass");
}

TEST_CASE("the remainder of floats has the sign of the dividend") {
  CHECK(runBinary("remainder", "tensor<4xf32>", "[5.5, -5.5, 5.5, 1.0]", "[2.0, 2.0, -2.0, 0.0]",
                  "[1.5, -1.5, 1.5, 0x7FC00000]") == "pass");
}

TEST_CASE("booleans add by or and multiply by and") {
  CHECK(runBinary("add", "tensor<4xi1>", "[false, false, true, true]", "[false, true, false, true]",
                  "[false, true, true, true]") == "pass");
  CHECK(runBinary("multiply", "tensor<4xi1>", "[false, false, true, true]",
                  "[false, true, false, true]", "[false, false, false, true]") == "pass");
}

TEST_CASE("complex numbers multiply and subtract part by part") {
  CHECK(runBinary("multiply", "tensor<1xcomplex<f32>>", "[(1.0, 2.0)]", "[(3.0, -1.0)]",
                  "[(5.0, 5.0)]") == "pass");
  CHECK(runBinary("subtract", "tensor<1xcomplex<f64>>", "[(1.0, 2.0)]", "[(3.0, -1.0)]",
                  "[(-2.0, 3.0)]") == "pass");
}

TEST_CASE("sign and abs keep zeros and NaN apart") {
  // -2, -0, +0, NaN
  CHECK(runUnaryBits("sign", "[-2.0, -0.0, 0.0, 0x7FC00000]",
                     "[3212836864, 2147483648, 0, 2143289344]") == "pass");
  CHECK(runUnaryBits("abs", "[-2.0, -0.0, 0.0, 0xFF800000]", "[1073741824, 0, 0, 2139095040]") ==
        "pass");
  CHECK(runUnary("sign", "tensor<3xi8>", "[-128, 0, 5]", "[-1, 0, 1]") == "pass");
  CHECK(runUnary("sign", "tensor<2xui8>", "[0, 200]", "[0, 1]") == "pass");
  CHECK(runUnary("abs", "tensor<3xi8>", "[-128, -3, 5]", "[-128, 3, 5]") == "pass");
}

TEST_CASE("bits are counted and turned") {
  CHECK(runUnary("popcnt", "tensor<3xui8>", "[0, 255, 5]", "[0, 8, 2]") == "pass");
  CHECK(runUnary("count_leading_zeros", "tensor<3xi16>", "[0, 1, -1]", "[16, 15, 0]") == "pass");
  CHECK(runUnary("not", "tensor<2xi8>", "[0, 5]", "[-1, -6]") == "pass");
  CHECK(runUnary("not", "tensor<2xi1>", "[true, false]", "[false, true]") == "pass");
}

TEST_CASE("shifts by too much leave zero or the sign") {
  CHECK(runBinary("shift_left", "tensor<4xi8>", "[1, 1, 1, -1]", "[7, 8, -1, 1]",
                  "[-128, 0, 0, -2]") == "pass");
  CHECK(runBinary("shift_right_logical", "tensor<3xi8>", "[-1, -1, -1]", "[7, 8, -1]",
                  "[1, 0, 0]") == "pass");
  CHECK(runBinary("shift_right_arithmetic", "tensor<4xi8>", "[-128, -128, 127, -1]",
                  "[1, 100, 100, -1]", "[-64, -1, 0, -1]") == "pass");
}

TEST_CASE("maximum and minimum give NaN wherever one is") {
  CHECK(runBinary("maximum", "tensor<3xf32>", "[1.0, 0x7FC00000, 2.0]", "[2.0, 1.0, 0x7FC00000]",
                  "[2.0, 0x7FC00000, 0x7FC00000]") == "pass");
  CHECK(runBinary("minimum", "tensor<3xbf16>", "[1.0, 0x7FC0, 2.0]", "[2.0, 1.0, 0x7FC0]",
                  "[1.0, 0x7FC0, 0x7FC0]") == "pass");
  CHECK(runBinary("maximum", "tensor<2xui8>", "[200, 1]", "[100, 2]", "[200, 2]") == "pass");
  CHECK(runBinary("minimum", "tensor<2xi8>", "[-1, 1]", "[100, 2]", "[-1, 1]") == "pass");
  // By the real parts first.
  CHECK(runBinary("maximum", "tensor<2xcomplex<f32>>", "[(1.0, 9.0), (2.0, 1.0)]",
                  "[(2.0, 0.0), (2.0, 3.0)]", "[(2.0, 0.0), (2.0, 3.0)]") == "pass");
}

TEST_CASE("comparisons follow the kind of number") {
  CHECK(runCompare("LT", "UNSIGNED", "tensor<2xui8>", "[200, 1]", "[100, 2]", "[false, true]") ==
        "pass");
  CHECK(runCompare("LT", "SIGNED", "tensor<2xi8>", "[-1, 2]", "[1, 1]", "[true, false]") == "pass");
  CHECK(runCompare("NE", "FLOAT", "tensor<3xf32>", "[0x7FC00000, 0.0, 1.0]",
                   "[0x7FC00000, -0.0, 2.0]", "[true, false, true]") == "pass");
  CHECK(runCompare("LT", "TOTALORDER", "tensor<4xf32>", "[-0.0, 0x7F800000, 0xFFC00000, -2.0]",
                   "[0.0, 0x7FC00000, 0xFF800000, -1.0]", "true") == "pass");
  CHECK(runCompare("EQ", "FLOAT", "tensor<2xcomplex<f32>>", "[(1.0, 2.0), (1.0, 2.0)]",
                   "[(1.0, 2.0), (1.0, 3.0)]", "[true, false]") == "pass");
}

TEST_CASE("floats round to integers each in its way") {
  CHECK(runUnary("round_nearest_afz", "tensor<5xf32>", "[0.5, -0.5, 1.5, 2.5, 0.49999997]",
                 "[1.0, -1.0, 2.0, 3.0, 0.0]") == "pass");
  CHECK(runUnary("round_nearest_even", "tensor<5xf32>", "[0.5, -0.5, 1.5, 2.5, 3.5]",
                 "[0.0, -0.0, 2.0, 2.0, 4.0]") == "pass");
  CHECK(runUnary("floor", "tensor<2xf16>", "[-1.5, 1.5]", "[-2.0, 1.0]") == "pass");
  CHECK(runUnary("ceil", "tensor<2xf16>", "[-1.5, 1.5]", "[-1.0, 2.0]") == "pass");
}

TEST_CASE("is_finite is false for infinities and NaN") {
  CHECK(runOperation({{"tensor<4xf32>", "[0x7F800000, 0xFF800000, 0x7FC00000, 1.0]"}},
                     "%out = stablehlo.is_finite %in0 : (tensor<4xf32>) -> tensor<4xi1>",
                     {"tensor<4xi1>", "[false, false, false, true]"}) == "pass");
}

TEST_CASE("clamp and select take operands for all elements") {
  CHECK(runOperation({{"tensor<i32>", "-1"}, {"tensor<3xi32>", "[-5, 0, 5]"}, {"tensor<i32>", "2"}},
                     "%out = stablehlo.clamp %in0, %in1, %in2 : (tensor<i32>, tensor<3xi32>, "
                     "tensor<i32>) -> tensor<3xi32>",
                     {"tensor<3xi32>", "[-1, 0, 2]"}) == "pass");
  CHECK(runOperation(
            {{"tensor<i1>", "false"}, {"tensor<2xi8>", "[1, 2]"}, {"tensor<2xi8>", "[3, 4]"}},
            "%out = stablehlo.select %in0, %in1, %in2 : tensor<i1>, tensor<2xi8>",
            {"tensor<2xi8>", "[3, 4]"}) == "pass");
}
