#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "compiler/tuning/compare.h"

namespace nocturne::test {

using namespace compiler;

namespace {

TensorData tensor(const std::string& dtype, const std::vector<double>& values) {
  TensorData made(dtype, {int64_t(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    made.setValue(i, values[i]);
  return made;
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

} // namespace

TEST_CASE("reals may be apart by what was summed, not by what is left") {
  const TensorData wanted = tensor("f32", {100, 0});
  // The root of the mean square is 70.7; 1024 roundings of it are 0.0086.
  CHECK_FALSE(difference(tensor("f32", {100, 0.005}), wanted, {}));
  CHECK(difference(tensor("f32", {100, 0.01}), wanted, {}) ==
        "differs in 1 of 2 numbers, first at [1]: 0.00999999978 instead of 0");
  CHECK_FALSE(difference(tensor("f32", {100, 0.01}), wanted, 1e-3));
  CHECK(difference(tensor("f32", {100, 1e-30}), wanted, 0.0));
}

TEST_CASE("NaN and infinities have their places, integers and booleans are exact") {
  CHECK_FALSE(difference(tensor("f64", {kNan, kInfinity}), tensor("f64", {kNan, kInfinity}), {}));
  CHECK(difference(tensor("f64", {1, kInfinity}), tensor("f64", {kNan, kInfinity}), {}));
  CHECK(difference(tensor("f64", {kNan, 1}), tensor("f64", {kNan, kInfinity}), {}));
  CHECK(difference(tensor("f64", {kNan, -kInfinity}), tensor("f64", {kNan, kInfinity}), {}));
  CHECK(difference(tensor("i32", {1000001}), tensor("i32", {1000000}), 0.5));
  CHECK_FALSE(difference(tensor("i32", {7}), tensor("i32", {7}), {}));
  CHECK(difference(tensor("i1", {1}), tensor("i1", {0}), 2.0));
  CHECK(difference(tensor("f32", {1}), tensor("f64", {1}), {}) == "is 1xf32 instead of 1xf64");
}

TEST_CASE("the usual tolerance follows the element type") {
  CHECK(usualTolerance(elementFormat("f32")) == 1024 * std::ldexp(1.0, -23));
  CHECK(usualTolerance(elementFormat("f64")) == 1024 * std::ldexp(1.0, -52));
  CHECK(usualTolerance(elementFormat("f16")) == 0.02);
  CHECK(usualTolerance(elementFormat("bf16")) == 0.02);
  CHECK(usualTolerance(elementFormat("f8E4M3FN")) == 0.25);
  CHECK(usualTolerance(elementFormat("i8")) == 0);
}

} // namespace nocturne::test
