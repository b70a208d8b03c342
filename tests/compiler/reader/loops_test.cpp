#include <doctest/doctest.h>

#include "compiler/reader/trip_count.h"
#include "read_text.h"

using namespace nocturne;
using namespace nocturne::compiler;
using namespace nocturne::compiler::testing;

namespace {

// A loop over a counter that starts at `start`, is compared with `bound` and stepped by `step`.
std::string loop(const std::string& direction, int start, int bound, const std::string& update,
                 int step) {
  return "%start = stablehlo.constant dense<" + std::to_string(start) + "> : tensor<i32>\n" +
         "%bound = stablehlo.constant dense<" + std::to_string(bound) + "> : tensor<i32>\n" +
         "%step = stablehlo.constant dense<" + std::to_string(step) + "> : tensor<i32>\n" +
         "%r = stablehlo.while(%i = %start) : tensor<i32>\n cond {\n"
         "  %p = stablehlo.compare " +
         direction +
         ", %i, %bound : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
         "  stablehlo.return %p : tensor<i1>\n} do {\n"
         "  %n = stablehlo." +
         update +
         " %i, %step : tensor<i32>\n"
         "  stablehlo.return %n : tensor<i32>\n}\n";
}

double bodyRuns(const std::string& text, const std::string& update) {
  ModulePtr module = readBody(text);
  CHECK(module->assumptions.empty());
  return runsOf(*module, "stablehlo." + update);
}

} // namespace

TEST_CASE("trips are counted for each comparison") {
  CHECK(countTrips("LT", 0, 10, 1) == 10);
  CHECK(countTrips("LT", 0, 10, 3) == 4);
  CHECK(countTrips("LT", 10, 10, 1) == 0);
  CHECK(countTrips("LE", 0, 10, 1) == 11);
  CHECK(countTrips("LE", 0, 10, 5) == 3);
  CHECK(countTrips("GT", 10, 0, -1) == 10);
  CHECK(countTrips("GT", 9, 0, -2) == 5);
  CHECK(countTrips("GE", 10, 0, -2) == 6);
  CHECK(countTrips("NE", 0, 6, 2) == 3);
  CHECK(countTrips("NE", 6, 0, -2) == 3);
  CHECK(countTrips("NE", 4, 4, 1) == 0);
  CHECK(countTrips("EQ", 4, 4, 1) == 1);
  CHECK(countTrips("EQ", 4, 5, 1) == 0);
}

TEST_CASE("loops that would never reach their bound have no trip count") {
  CHECK_FALSE(countTrips("LT", 0, 10, 0));
  CHECK_FALSE(countTrips("LT", 0, 10, -1));
  CHECK_FALSE(countTrips("GT", 10, 0, 1));
  CHECK_FALSE(countTrips("NE", 0, 5, 2));
  CHECK_FALSE(countTrips("NE", 0, 6, -2));
  CHECK_FALSE(countTrips("EQ", 4, 4, 0));
  CHECK_FALSE(countTrips("XX", 0, 1, 1));
}

TEST_CASE("trips at the ends of 64 bits do not overflow") {
  CHECK(countTrips("LT", INT64_MIN, INT64_MAX, 1) == 18446744073709551615.0);
  CHECK(countTrips("LE", 0, INT64_MAX, 1) == 9223372036854775808.0);
  CHECK(countTrips("GE", 0, INT64_MIN, INT64_MIN) == 2);
}

TEST_CASE("the body runs once per trip and the condition once more") {
  ModulePtr module = readBody(loop("LT", 0, 10, "add", 1));
  CHECK(namesOf(*module) == "constant constant constant while compare add func.return");
  CHECK(runsOf(*module, "stablehlo.while") == 1);
  CHECK(runsOf(*module, "stablehlo.compare") == 11);
  CHECK(runsOf(*module, "stablehlo.add") == 10);
  CHECK(module->rows[3].loopDepth == 0);
  CHECK(module->rows[4].loopDepth == 1);
  CHECK(module->assumptions.empty());
}

TEST_CASE("counted loops are recognised in every direction") {
  CHECK(bodyRuns(loop("LT", 2, 11, "add", 3), "add") == 3);
  CHECK(bodyRuns(loop("LE", 1, 10, "add", 1), "add") == 10);
  CHECK(bodyRuns(loop("GT", 10, 0, "add", -2), "add") == 5);
  CHECK(bodyRuns(loop("GE", 10, 0, "subtract", 2), "subtract") == 6);
  CHECK(bodyRuns(loop("NE", 0, 7, "add", 1), "add") == 7);
  CHECK(bodyRuns(loop("LT", 5, 5, "add", 1), "add") == 0);
}

TEST_CASE("the counter may stand on either side of the comparison") {
  CHECK(bodyRuns(R"(
  %s = stablehlo.constant dense<0> : tensor<i32>
  %b = stablehlo.constant dense<6> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.while(%i = %s) : tensor<i32> cond {
    %p = stablehlo.compare GT, %b, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %n = stablehlo.add %one, %i : tensor<i32>
    stablehlo.return %n : tensor<i32>
  })",
                 "add") == 6);
}

TEST_CASE("the bound may be a carried value that the body hands on") {
  ModulePtr module = readBody(R"(
  %s = stablehlo.constant dense<0> : tensor<i64>
  %b = stablehlo.constant dense<12> : tensor<i64>
  %x = stablehlo.constant dense<1.0> : tensor<8xf32>
  %r:3 = stablehlo.while(%i = %s, %bound = %b, %v = %x) : tensor<i64>, tensor<i64>, tensor<8xf32> cond {
    %p = stablehlo.compare LT, %i, %bound : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i64>
    %w = stablehlo.tanh %v : tensor<8xf32>
    %n = stablehlo.add %i, %one : tensor<i64>
    stablehlo.return %n, %bound, %w : tensor<i64>, tensor<i64>, tensor<8xf32>
  })");
  CHECK(runsOf(*module, "stablehlo.tanh") == 12);
  CHECK(module->assumptions.empty());
}

TEST_CASE("bounds are traced through conversions and arithmetic") {
  CHECK(bodyRuns(R"(
  %s = stablehlo.constant dense<0> : tensor<i64>
  %a = stablehlo.constant dense<3> : tensor<i32>
  %b = stablehlo.constant dense<4> : tensor<1xi32>
  %b0 = stablehlo.reshape %b : (tensor<1xi32>) -> tensor<i32>
  %c = stablehlo.multiply %a, %b0 : tensor<i32>
  %d = stablehlo.minimum %c, %b0 : tensor<i32>
  %e = stablehlo.subtract %c, %d : tensor<i32>
  %f = stablehlo.convert %e : (tensor<i32>) -> tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %r = stablehlo.while(%i = %s) : tensor<i64> cond {
    %p = stablehlo.compare LT, %i, %f : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %n = stablehlo.add %i, %one : tensor<i64>
    stablehlo.return %n : tensor<i64>
  })",
                 "add") == 8);
}

TEST_CASE("unsigned bounds are read without a sign") {
  CHECK(bodyRuns(R"(
  %s = stablehlo.constant dense<0> : tensor<ui8>
  %b = stablehlo.constant dense<200> : tensor<ui8>
  %one = stablehlo.constant dense<1> : tensor<ui8>
  %r = stablehlo.while(%i = %s) : tensor<ui8> cond {
    %p = stablehlo.compare LT, %i, %b : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %n = stablehlo.add %i, %one : tensor<ui8>
    stablehlo.return %n : tensor<ui8>
  })",
                 "add") == 200);
}

TEST_CASE("the step may be made in a function that the body calls") {
  ModulePtr module = read(R"(
func.func private @closed_call(%x: tensor<f32>, %i: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %y = stablehlo.tanh %x : tensor<f32>
  %n = stablehlo.add %i, %one : tensor<i32>
  return %y, %n : tensor<f32>, tensor<i32>
}
func.func @main(%x: tensor<f32>) {
  %s = stablehlo.constant dense<0> : tensor<i32>
  %b = stablehlo.constant dense<5> : tensor<i32>
  %r:2 = stablehlo.while(%i = %s, %v = %x) : tensor<i32>, tensor<f32> cond {
    %p = stablehlo.compare LT, %i, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %c:2 = func.call @closed_call(%v, %i) : (tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
    stablehlo.return %c#1, %c#0 : tensor<i32>, tensor<f32>
  }
  return
})");
  CHECK(runsOf(*module, "stablehlo.tanh") == 5);
  CHECK(module->assumptions.empty());
}

TEST_CASE("a bound that is an argument counts if all calls agree on it") {
  auto text = [](const std::string& second) {
    return R"(
func.func private @f(%b: tensor<i32>) {
  %s = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.while(%i = %s) : tensor<i32> cond {
    %p = stablehlo.compare LT, %i, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n : tensor<i32>
  }
  return
}
func.func @main() {
  %a = stablehlo.constant dense<7> : tensor<i32>
  %b = stablehlo.constant dense<)" +
           second + R"(> : tensor<i32>
  call @f(%a) : (tensor<i32>) -> ()
  call @f(%b) : (tensor<i32>) -> ()
  return
})";
  };
  ModulePtr same = read(text("7"));
  CHECK(runsOf(*same, "stablehlo.add") == 14);
  CHECK(same->assumptions.empty());
  ModulePtr different = read(text("8"));
  CHECK(runsOf(*different, "stablehlo.add") == 2);
  CHECK(different->assumptions.size() == 1);
}

TEST_CASE("a loop whose count cannot be told runs as often as the options say, which is noted") {
  const char* text = R"(
func.func @main(%b: tensor<i32>) {
  %s = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.while(%i = %s) : tensor<i32>
  cond {
    %p = stablehlo.compare LT, %i, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n : tensor<i32>
  }
  return
})";
  ModulePtr once = read(text);
  CHECK(runsOf(*once, "stablehlo.add") == 1);
  CHECK(runsOf(*once, "stablehlo.compare") == 2);
  REQUIRE(once->assumptions.size() == 1);
  CHECK(once->assumptions[0] == Assumption{"trip_count", "1", "test.mlir:5:8"});
  ReaderOptions options;
  options.tripCount = 32;
  CHECK(runsOf(*read(text, options), "stablehlo.add") == 32);
  CHECK(read(text, options)->assumptions[0].value == "32");
}

TEST_CASE("nested loops multiply") {
  ModulePtr module = readBody(R"(
  %s = stablehlo.constant dense<0> : tensor<i32>
  %b = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.while(%i = %s) : tensor<i32> cond {
    %p = stablehlo.compare LT, %i, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %q = stablehlo.while(%j = %s) : tensor<i32> cond {
      %p = stablehlo.compare LT, %j, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %m = stablehlo.subtract %j, %one : tensor<i32>
      %k = stablehlo.add %m, %s : tensor<i32>
      %l = stablehlo.add %j, %one : tensor<i32>
      stablehlo.return %l : tensor<i32>
    }
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n : tensor<i32>
  })");
  CHECK(runsOf(*module, "stablehlo.subtract") == 9);
  // Outer: 4. Inner: 3 * 4.
  CHECK(runsOf(*module, "stablehlo.compare") == 16);
  CHECK(runsOf(*module, "stablehlo.add") == 9 + 9 + 3);
}

TEST_CASE("arithmetic that branches without end is given up, not followed") {
  std::string text = "%v0 = stablehlo.constant dense<1> : tensor<i32>\n";
  for (int i = 1; i < 45; ++i)
    text += "%v" + std::to_string(i) + " = stablehlo.maximum %v" + std::to_string(i - 1) + ", %v" +
            std::to_string(i - 1) + " : tensor<i32>\n";
  text += R"(%r = stablehlo.while(%i = %v0) : tensor<i32> cond {
    %p = stablehlo.compare LT, %i, %v44 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %n = stablehlo.add %i, %v0 : tensor<i32>
    stablehlo.return %n : tensor<i32>
  })";
  CHECK(readBody(text)->assumptions.size() == 1);
}
