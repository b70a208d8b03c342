#include "engine/grid.h"

#include <doctest/doctest.h>

#include "plan_fixture.h"

using namespace nocturne;
using test::mistake;

namespace {

std::vector<Json> values(const char* text) {
  return axisValues(Json::parse(text), "/g");
}
std::string mistakeIn(const char* text) {
  return mistake([&] { values(text); });
}

} // namespace

TEST_CASE("linear steps have both ends exactly") {
  CHECK(linearSteps(1, 3, 5) == std::vector<double>{1, 1.5, 2, 2.5, 3});
  CHECK(linearSteps(0.1, 0.7, 4).back() == 0.7);
  CHECK(linearSteps(3, 1, 3) == std::vector<double>{3, 2, 1});
}

TEST_CASE("logarithmic steps hit whole ratios exactly") {
  CHECK(logarithmicSteps(1, 8, 4) == std::vector<double>{1, 2, 4, 8});
  CHECK(logarithmicSteps(1e12, 1e15, 4) == std::vector<double>{1e12, 1e13, 1e14, 1e15});
  CHECK(logarithmicSteps(16, 1, 5) == std::vector<double>{16, 8, 4, 2, 1});
  CHECK(logarithmicSteps(5, 5, 3) == std::vector<double>{5, 5, 5});
}

TEST_CASE("logarithmic steps have known bits") {
  // Between the two neighbours whose squares are equally near to ten, the lower.
  CHECK(logarithmicSteps(1, 10, 3)[1] == 0x1.94c583ada5b52p+1);
  std::vector<double> series = logarithmicSteps(1, 10, 7);
  CHECK(series[1] == doctest::Approx(1.4677992676220695).epsilon(1e-14));
  for (size_t i = 1; i < series.size(); ++i)
    CHECK(series[i] / series[i - 1] == doctest::Approx(series[1]).epsilon(1e-13));
  std::vector<double> wide = logarithmicSteps(1e-300, 1e7, 100000);
  CHECK(wide.front() == 1e-300);
  CHECK(wide.back() == 1e7);
  CHECK(wide[99998] < 1e7);
}

TEST_CASE("an axis is an array or a range") {
  CHECK(values("[1, \"a\", true]") == std::vector<Json>{1, "a", true});
  CHECK(values(R"({"from": 1, "to": 2, "steps": 3})") == std::vector<Json>{1.0, 1.5, 2.0});
  CHECK(values(R"({"from": 1, "to": 4, "steps": 3, "scale": "log"})") ==
        std::vector<Json>{1.0, 2.0, 4.0});
}

TEST_CASE("mistakes in an axis have their place") {
  CHECK(mistakeIn("[]") == "/g: an axis needs at least one value");
  CHECK(mistakeIn("3") ==
        "/g: expected an array of values or {\"from\", \"to\", \"steps\", \"scale\"}, not 3");
  CHECK(mistakeIn(R"({"from": 1, "to": 2, "stepz": 3})") ==
        "/g/stepz: a range has no key \"stepz\"; did you mean \"steps\"?");
  CHECK(mistakeIn(R"({"from": 1, "to": 2})") ==
        "/g: a range needs \"from\", \"to\" and \"steps\"; \"steps\" is missing");
  CHECK(mistakeIn(R"({"from": 1, "to": 2, "steps": 1})").starts_with("/g/steps: "));
  CHECK(mistakeIn(R"({"from": 1, "to": 2, "steps": 1e9})").starts_with("/g/steps: "));
  CHECK(mistakeIn(R"({"from": 0, "to": 2, "steps": 3, "scale": "log"})").starts_with("/g/from: "));
  CHECK(mistakeIn(R"({"from": "a", "to": 2, "steps": 3})").starts_with("/g/from: "));
  CHECK(mistakeIn(R"({"from": 1, "to": 2, "steps": 3, "scale": "lin"})").starts_with("/g/scale: "));
  CHECK(mistakeIn(R"({"from": 1e-308, "to": 1e308, "steps": 3, "scale": "log"})") ==
        "/g: the range is too wide");
  CHECK(mistakeIn(R"({"from": -1e308, "to": 1e308, "steps": 3})") == "/g: the range is too wide");
}

TEST_CASE("the last axis is the fastest") {
  std::vector<Axis> grid = {{"a", {1, 2}}, {"b", {1, 2, 3}}};
  CHECK(combinations(grid, "") == 6);
  CHECK(axisPlaces(grid, 0) == std::vector<size_t>{0, 0});
  CHECK(axisPlaces(grid, 1) == std::vector<size_t>{0, 1});
  CHECK(axisPlaces(grid, 5) == std::vector<size_t>{1, 2});
  std::vector<Axis> huge(4, Axis{"x", std::vector<Json>(1000, 1)});
  CHECK(mistake([&] { combinations(huge, "/g"); }).starts_with("/g: the grid has more than"));
}
