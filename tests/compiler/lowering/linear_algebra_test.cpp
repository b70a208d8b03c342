#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "run_function.h"

using namespace nocturne::compiler::testing;

namespace {

using Texts = std::vector<std::string>;

Texts cholesky(const std::string& type, const std::string& values, bool lower) {
  return runFunction(
      {{type, values}},
      "%r = stablehlo.cholesky %a, lower = " + std::string(lower ? "true" : "false") + " : " +
          type + "\nreturn %r : " + type,
      type);
}

Texts solve(const Given& a, const Given& b, const std::string& side,
            const std::string& attributes) {
  return runFunction({a, b},
                     "%r = \"stablehlo.triangular_solve\"(%a, %b) <{left_side = " + side + ", " +
                         attributes + "}> : (" + a.type + ", " + b.type + ") -> " + b.type +
                         "\nreturn %r : " + b.type,
                     b.type);
}

// The result's numbers are `expected` within `tolerance`: real and imaginary parts in turn.
void checkFourier(const Given& operand, const std::string& type, const std::string& length,
                  const std::string& result, const std::vector<double>& expected,
                  double tolerance = 1e-12) {
  const nocturne::compiler::ProgramReport report =
      reportOf({operand},
               "%r = stablehlo.fft %a, type = " + type + ", length = [" + length + "] : (" +
                   operand.type + ") -> " + result + "\nreturn %r : " + result,
               result);
  INFO(report.message);
  REQUIRE(report.results.size() == 1);
  REQUIRE(report.results[0].componentCount() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    CHECK(std::abs(report.results[0].value(i) - expected[i]) < tolerance);
}

} // namespace

TEST_CASE("cholesky reads one triangle and leaves the other one zero") {
  // [[2, 0], [1, 3]] times its transpose is [[4, 2], [2, 10]].
  CHECK(cholesky("tensor<2x2xf32>", "[[4.0, 99.0], [2.0, 10.0]]", true) ==
        Texts{"f32[2,2] = [[2, 0], [1, 3]]"});
  CHECK(cholesky("tensor<2x2xf32>", "[[4.0, 2.0], [99.0, 10.0]]", false) ==
        Texts{"f32[2,2] = [[2, 1], [0, 3]]"});
}

TEST_CASE("triangular_solve solves from both sides with each form of the matrix") {
  // The matrix is [[2, 0], [1, 4]]; 9 stands where nothing may be read.
  const Given lower = {"tensor<2x2xf64>", "[[2.0, 9.0], [1.0, 4.0]]"};
  const Given column = {"tensor<2x1xf64>", "[[2.0], [9.0]]"};
  const Given row = {"tensor<1x2xf64>", "[[4.0, 8.0]]"};
  const std::string plain =
      "lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose "
      "NO_TRANSPOSE>";
  const std::string transposed =
      "lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>";
  const std::string unit =
      "lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>";
  CHECK(solve(lower, column, "true", plain) == Texts{"f64[2,1] = [[1], [2]]"});
  CHECK(solve(lower, row, "false", plain) == Texts{"f64[1,2] = [[1, 2]]"});
  CHECK(solve(lower, {"tensor<2x1xf64>", "[[4.0], [8.0]]"}, "true", transposed) ==
        Texts{"f64[2,1] = [[1], [2]]"});
  CHECK(solve(lower, {"tensor<1x2xf64>", "[[2.0, 9.0]]"}, "false", transposed) ==
        Texts{"f64[1,2] = [[1, 2]]"});
  CHECK(solve(lower, column, "true", unit) == Texts{"f64[2,1] = [[2], [7]]"});
}

TEST_CASE("an fft turns an impulse into a wave, and back") {
  // Element k of the transform of an impulse at 1 is exp(-2 pi i k / 4).
  const std::string type = "tensor<4xcomplex<f64>>";
  checkFourier({type, "[(0.0, 0.0), (1.0, 0.0), (0.0, 0.0), (0.0, 0.0)]"}, "FFT", "4", type,
               {1, 0, 0, -1, -1, 0, 0, 1});
  checkFourier({type, "[(1.0, 0.0), (0.0, -1.0), (-1.0, 0.0), (0.0, 1.0)]"}, "IFFT", "4", type,
               {0, 0, 1, 0, 0, 0, 0, 0});
}

TEST_CASE("transforms of real lines keep half of the other side") {
  checkFourier({"tensor<4xf64>", "[1.0, 2.0, 3.0, 4.0]"}, "RFFT", "4", "tensor<3xcomplex<f64>>",
               {10, 0, -2, 2, -2, 0});
  checkFourier({"tensor<3xcomplex<f64>>", "[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)]"}, "IRFFT", "4",
               "tensor<4xf64>", {1, 2, 3, 4});
  // An odd length, and an imaginary part of the first element, which no real line has.
  checkFourier({"tensor<2xcomplex<f64>>", "[(6.0, 5.0), (0.0, 0.0)]"}, "IRFFT", "3",
               "tensor<3xf64>", {2, 2, 2});
}

TEST_CASE("an fft transforms the last dimensions, the first ones being a batch") {
  checkFourier({"tensor<2x2x2xcomplex<f64>>",
                "[[[(1.0, 0.0), (2.0, 0.0)], [(3.0, 0.0), (4.0, 0.0)]],"
                " [[(1.0, 0.0), (0.0, 0.0)], [(0.0, 0.0), (0.0, 0.0)]]]"},
               "FFT", "2, 2", "tensor<2x2x2xcomplex<f64>>",
               {10, 0, -2, 0, -4, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0});
}

TEST_CASE("an fft has any length") {
  // 6 mixes radices; 67 is prime and beyond them, and so is a factor of 134.
  for (int n : {6, 67, 134}) {
    std::string values = "[";
    for (int i = 0; i < n; ++i)
      values += i == 0 ? "(0.0, 0.0)" : i == 1 ? ", (1.0, 0.0)" : ", (0.0, 0.0)";
    std::vector<double> expected;
    for (int k = 0; k < n; ++k) {
      const double angle = -2 * std::numbers::pi * k / n;
      expected.push_back(std::cos(angle));
      expected.push_back(std::sin(angle));
    }
    const std::string type = "tensor<" + std::to_string(n) + "xcomplex<f64>>";
    checkFourier({type, values + "]"}, "FFT", std::to_string(n), type, expected);
  }
}
