#include <doctest/doctest.h>

#include "run_function.h"

using namespace nocturne::compiler::testing;

namespace {

using Texts = std::vector<std::string>;

Texts top(const std::string& type, const std::string& values, int k, const std::string& results) {
  return runFunction({{type, values}},
                     "%v, %i = chlo.top_k(%a, k = " + std::to_string(k) + ") : " + type + " -> (" +
                         results + ")\nreturn %v, %i : " + results,
                     results);
}

} // namespace

TEST_CASE("a sort keeps the order of equal elements and moves all operands together") {
  CHECK(runFunction({{"tensor<7xi32>", "[3, 1, 2, 1, 3, 2, 1]"},
                     {"tensor<7xi32>", "[0, 1, 2, 3, 4, 5, 6]"}},
                    R"(%r:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64}> ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>, %u: tensor<i32>, %v: tensor<i32>):
        %p = stablehlo.compare LT, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }) : (tensor<7xi32>, tensor<7xi32>) -> (tensor<7xi32>, tensor<7xi32>)
    return %r#0, %r#1 : tensor<7xi32>, tensor<7xi32>)",
                    "tensor<7xi32>, tensor<7xi32>") ==
        Texts{"i32[7] = [1, 1, 1, 2, 2, 3, 3]", "i32[7] = [1, 3, 6, 2, 5, 0, 4]"});
}

TEST_CASE("a sort goes along its dimension, in the comparator's order") {
  const std::string compare = R"( ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %p = stablehlo.compare GT, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }) : (tensor<3x2xi32>) -> tensor<3x2xi32>
    return %r : tensor<3x2xi32>)";
  const Given matrix = {"tensor<3x2xi32>", "[[1, 6], [3, 2], [2, 4]]"};
  CHECK(runFunction({matrix}, R"(%r = "stablehlo.sort"(%a) <{dimension = 0 : i64}>)" + compare,
                    "tensor<3x2xi32>") == Texts{"i32[3,2] = [[3, 6], [2, 4], [1, 2]]"});
  CHECK(runFunction({matrix}, R"(%r = "stablehlo.sort"(%a) <{dimension = -1 : i64}>)" + compare,
                    "tensor<3x2xi32>") == Texts{"i32[3,2] = [[6, 1], [3, 2], [4, 2]]"});
}

TEST_CASE("top_k takes the first of equal elements first") {
  CHECK(top("tensor<6xi32>", "[5, 7, 5, 8, 8, 5]", 4, "tensor<4xi32>, tensor<4xi32>") ==
        Texts{"i32[4] = [8, 8, 7, 5]", "i32[4] = [3, 4, 1, 0]"});
}

TEST_CASE("top_k of a few from a long line agrees with that of all") {
  CHECK(top("tensor<12xi32>", "[3, 9, 1, 9, 4, 8, 2, 9, 0, 7, 8, 1]", 3,
            "tensor<3xi32>, tensor<3xi32>") == Texts{"i32[3] = [9, 9, 9]", "i32[3] = [1, 3, 7]"});
  CHECK(top("tensor<12xi32>", "[3, 9, 1, 9, 4, 8, 2, 9, 0, 7, 8, 1]", 7,
            "tensor<7xi32>, tensor<7xi32>") ==
        Texts{"i32[7] = [9, 9, 9, 8, 8, 7, 4]", "i32[7] = [1, 3, 7, 5, 10, 9, 4]"});
}

TEST_CASE("MHLO's top-k takes the least as well, as an operation and as a call") {
  const std::string results = "tensor<2xf32>, tensor<2xi32>";
  for (
      const std::string op :
      {R"("mhlo.topk"(%a) {k = 2 : i64, largest = false})",
       R"(stablehlo.custom_call @mhlo.topk(%a) {mhlo.attributes = {k = 2 : i64, largest = false}})"})
    CHECK(runFunction({{"tensor<4xf32>", "[3.0, 1.0, 2.0, 1.0]"}},
                      "%r:2 = " + op + " : (tensor<4xf32>) -> (" + results +
                          ")\nreturn %r#0, %r#1 : " + results,
                      results) == Texts{"f32[2] = [1, 1]", "i32[2] = [1, 3]"});
}

TEST_CASE("top_k of nothing is nothing") {
  CHECK(top("tensor<0x5xi32>", "", 2, "tensor<0x2xi32>, tensor<0x2xi32>") ==
        Texts{"i32[0,2] = []", "i32[0,2] = []"});
  CHECK(top("tensor<2x3xi32>", "1", 0, "tensor<2x0xi32>, tensor<2x0xi32>") ==
        Texts{"i32[2,0] = []", "i32[2,0] = []"});
}

TEST_CASE("top_k has a place for every float") {
  const Texts texts = top("tensor<5xf32>", "[0x7F800000, 0x7FC00000, 0xFFC00000, 0xFF800000, 3.0]",
                          5, "tensor<5xf32>, tensor<5xi32>");
  REQUIRE(texts.size() == 2);
  CHECK(texts[1] == "i32[5] = [1, 0, 4, 3, 2]");
}
