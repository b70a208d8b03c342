#include <doctest/doctest.h>

#include <cmath>

#include "run_function.h"

using namespace nocturne::compiler::testing;

namespace {

using Texts = std::vector<std::string>;

Texts bits(const std::string& algorithm, int words, const std::string& state,
           const std::string& result) {
  const std::string stateType = "tensor<" + std::to_string(words) + "xui64>";
  return runFunction({{stateType, state}},
                     "%s, %r = stablehlo.rng_bit_generator %a, algorithm = " + algorithm + " : (" +
                         stateType + ") -> (" + stateType + ", " + result +
                         ")\nreturn %s, %r : " + stateType + ", " + result,
                     stateType + ", " + result);
}

std::vector<double> draw(const std::string& distribution, const std::string& a,
                         const std::string& b) {
  const std::string text = "func.func public @main() -> tensor<10000xf32> {\n"
                           "%a = stablehlo.constant dense<" +
                           a +
                           "> : tensor<f32>\n"
                           "%b = stablehlo.constant dense<" +
                           b +
                           "> : tensor<f32>\n"
                           "%s = stablehlo.constant dense<10000> : tensor<1xi64>\n"
                           "%r = stablehlo.rng %a, %b, %s, distribution = " +
                           distribution +
                           " : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<10000xf32>\n"
                           "return %r : tensor<10000xf32>\n}\n";
  nocturne::compiler::ProgramReport report =
      nocturne::compiler::runProgramText(text, "test.mlir", {});
  REQUIRE(report.results.size() == 1);
  std::vector<double> numbers;
  for (size_t i = 0; i < report.results[0].count(); ++i)
    numbers.push_back(report.results[0].value(i));
  return numbers;
}

double meanOf(const std::vector<double>& numbers) {
  double sum = 0;
  for (double number : numbers)
    sum += number;
  return sum / double(numbers.size());
}

} // namespace

// The answers are those that the authors of both generators publish with Random123.
TEST_CASE("THREE_FRY gives the published words") {
  CHECK(bits("THREE_FRY", 2, "[0, 0]", "tensor<2xui32>") ==
        Texts{"ui64[2] = [0, 1]", "ui32[2] = [1797259609, 2579123966]"});
  // Key 13198a2e 03707344 and counter 243f6a88 85a308d3, the lower word first.
  CHECK(bits("THREE_FRY", 2, "[0x0370734413198A2E, 0x85A308D3243F6A88]", "tensor<2xui32>")[1] ==
        "ui32[2] = [3297917596, 1212020640]");
}

TEST_CASE("PHILOX gives the published words") {
  CHECK(bits("PHILOX", 3, "[0, 0, 0]", "tensor<4xui32>") ==
        Texts{"ui64[3] = [0, 1, 0]", "ui32[4] = [1713891541, 3781805453, 3159862348, 2600524760]"});
}

TEST_CASE("the counter of PHILOX carries into its upper half") {
  const std::string all = "18446744073709551615";
  CHECK(bits("PHILOX", 3, "[" + all + ", " + all + ", " + all + "]", "tensor<4xui32>") ==
        Texts{"ui64[3] = [" + all + ", 0, 0]",
              "ui32[4] = [1083123565, 1103641358, 2718681030, 1834242557]"});
}

TEST_CASE("numbers of 64 bits are made of two words, the lower one first") {
  CHECK(bits("THREE_FRY", 2, "[0, 0]", "tensor<1xui64>") ==
        Texts{"ui64[2] = [0, 1]", "ui64[1] = [11077253088097075545]"});
}

TEST_CASE("rng draws from its distribution, the same in every run") {
  const std::vector<double> uniform = draw("UNIFORM", "2.0", "4.0");
  CHECK(std::abs(meanOf(uniform) - 3) < 0.05);
  for (double number : uniform)
    CHECK((number >= 2 && number < 4));
  CHECK(uniform == draw("UNIFORM", "2.0", "4.0"));

  std::vector<double> normal = draw("NORMAL", "1.0", "3.0");
  const double mean = meanOf(normal);
  CHECK(std::abs(mean - 1) < 0.15);
  for (double& number : normal)
    number = (number - mean) * (number - mean);
  CHECK(std::abs(std::sqrt(meanOf(normal)) - 3) < 0.15);
}
