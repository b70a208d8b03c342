#include "compiler/execution/check.h"

#include <cmath>

#include <doctest/doctest.h>

#include "engine/error.h"

namespace nocturne::compiler {

namespace {

using Kind = Expectation::Kind;

Expectation expectation(Kind kind) {
  Expectation made;
  made.kind = kind;
  return made;
}

TensorData reals(std::initializer_list<double> values) {
  TensorData tensor("f32", {int64_t(values.size())});
  size_t i = 0;
  for (double value : values)
    tensor.setValue(i++, value);
  return tensor;
}

bool holds(Kind kind, double got, double expected) {
  return !check(expectation(kind), reals({got}), reals({expected}));
}

float steps(float value, int count) {
  for (int i = 0; i < count; ++i)
    value = std::nextafter(value, INFINITY);
  return value;
}

} // namespace

TEST_CASE("equal values are equal whatever their sign bit says") {
  CHECK(holds(Kind::Equal, 0.0, -0.0));
  CHECK(holds(Kind::Equal, NAN, NAN));
  CHECK_FALSE(holds(Kind::Equal, 1, steps(1, 1)));
  CHECK_FALSE(holds(Kind::Equal, NAN, 1));
}

TEST_CASE("close values are at most three numbers apart") {
  CHECK(holds(Kind::Close, 1, steps(1, 3)));
  CHECK_FALSE(holds(Kind::Close, 1, steps(1, 4)));
  CHECK(holds(Kind::Close, NAN, NAN));
  CHECK(holds(Kind::Close, -steps(0, 1), steps(0, 2)));
  CHECK_FALSE(holds(Kind::Close, INFINITY, 3.4e38));
  CHECK_FALSE(holds(Kind::Close, INFINITY, -INFINITY));
}

TEST_CASE("almost equal values have one sign") {
  CHECK(holds(Kind::AlmostEqual, 1, 1.00005));
  CHECK_FALSE(holds(Kind::AlmostEqual, 1, 1.0002));
  CHECK_FALSE(holds(Kind::AlmostEqual, -1e-5, 1e-5));
  CHECK(holds(Kind::AlmostEqual, INFINITY, INFINITY));
}

TEST_CASE("the first mismatch is told") {
  std::optional<Mismatch> mismatch =
      check(expectation(Kind::Close), reals({1, 2, steps(4, 9), 8}), reals({1, 2, 4, 9}));
  REQUIRE(mismatch);
  CHECK(mismatch->place == "[2]");
  CHECK(mismatch->expected == "4");
  CHECK(mismatch->ulps == 9);
  CHECK(mismatch->count == 2);
  CHECK(mismatch->text() == "element [2] is 4.0000043, expected 4 (9 ulp); 2 of 4 differ");
}

TEST_CASE("integers are compared as they are") {
  TensorData got("i8", {1}), expected("i8", {1});
  got.setValue(0, -3);
  expected.setValue(0, -2);
  std::optional<Mismatch> mismatch = check(expectation(Kind::Close), got, expected);
  REQUIRE(mismatch);
  CHECK(mismatch->text() == "element [0] is -3, expected -2; 1 of 1 differ");
}

TEST_CASE("values of different types cannot be compared") {
  CHECK_THROWS_AS(check({}, reals({1}), reals({1, 2})), UsageError);
}

} // namespace nocturne::compiler
