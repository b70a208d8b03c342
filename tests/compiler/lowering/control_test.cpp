// Control flow, functions, tuples, and what does nothing on one device.
#include <doctest/doctest.h>

#include "tests/compiler/lowering/run_operation.h"

using nocturne::compiler::runOperation;

TEST_CASE("while runs its body while its condition holds") {
  CHECK(runOperation({{"tensor<i32>", "10"}, {"tensor<ui8>", "1"}},
                     R"(
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %sum = %in1) : tensor<i32>, tensor<ui8>
      cond {
        %c = stablehlo.compare LT, %i, %in0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %next = stablehlo.add %i, %one : tensor<i32>
        %twice = stablehlo.add %sum, %in1 : tensor<ui8>
        stablehlo.return %next, %twice : tensor<i32>, tensor<ui8>
      }
    %out = stablehlo.add %r#1, %in1 : tensor<ui8>)",
                     {"tensor<ui8>", "12"}) == "pass");
}

TEST_CASE("if and case take one branch, the last where the index names none") {
  const char* choice = R"(
    %out = "stablehlo.if"(%in0) ({
      stablehlo.return %in1 : tensor<2xi32>
    }, {
      %sum = stablehlo.add %in1, %in1 : tensor<2xi32>
      stablehlo.return %sum : tensor<2xi32>
    }) : (tensor<i1>) -> tensor<2xi32>)";
  CHECK(runOperation({{"tensor<i1>", "true"}, {"tensor<2xi32>", "[1, 2]"}}, choice,
                     {"tensor<2xi32>", "[1, 2]"}) == "pass");
  CHECK(runOperation({{"tensor<i1>", "false"}, {"tensor<2xi32>", "[1, 2]"}}, choice,
                     {"tensor<2xi32>", "[2, 4]"}) == "pass");
  const char* branches = R"(
    %out = "stablehlo.case"(%in0) ({
      stablehlo.return %in1 : tensor<i32>
    }, {
      %sum = stablehlo.add %in1, %in1 : tensor<i32>
      stablehlo.return %sum : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>)";
  CHECK(runOperation({{"tensor<i32>", "0"}, {"tensor<i32>", "3"}}, branches,
                     {"tensor<i32>", "3"}) == "pass");
  for (const char* index : {"1", "7", "-1"})
    CHECK(runOperation({{"tensor<i32>", index}, {"tensor<i32>", "3"}}, branches,
                       {"tensor<i32>", "6"}) == "pass");
}

TEST_CASE("tuples are taken apart and tokens carry nothing") {
  CHECK(runOperation({{"tensor<i32>", "3"}, {"tensor<ui8>", "4"}},
                     R"(
    %token = stablehlo.create_token : !stablehlo.token
    %all = stablehlo.after_all %token, %token : !stablehlo.token
    %t = stablehlo.tuple %in0, %in1 : tuple<tensor<i32>, tensor<ui8>>
    %b = stablehlo.optimization_barrier %in1 : tensor<ui8>
    %u = stablehlo.tuple %t, %b : tuple<tuple<tensor<i32>, tensor<ui8>>, tensor<ui8>>
    %v = stablehlo.get_tuple_element %u[0] : (tuple<tuple<tensor<i32>, tensor<ui8>>, tensor<ui8>>) -> tuple<tensor<i32>, tensor<ui8>>
    %out = stablehlo.get_tuple_element %v[1] : (tuple<tensor<i32>, tensor<ui8>>) -> tensor<ui8>)",
                     {"tensor<ui8>", "4"}) == "pass");
}

TEST_CASE("a composite is its decomposition") {
  CHECK(runOperation({{"tensor<2xi32>", "[1, 2]"}},
                     R"(%out = stablehlo.composite "my.twice" %in0 {
                          decomposition = @twice
                        } : (tensor<2xi32>) -> tensor<2xi32>)",
                     {"tensor<2xi32>", "[2, 4]"}, R"(
    func.func private @twice(%a: tensor<2xi32>) -> tensor<2xi32> {
      %sum = stablehlo.add %a, %a : tensor<2xi32>
      return %sum : tensor<2xi32>
    })") == "pass");
}

TEST_CASE("one device is alone with its values") {
  CHECK(runOperation({{"tensor<2xi32>", "[1, 2]"}}, R"(
    %a = stablehlo.custom_call @Sharding(%in0) : (tensor<2xi32>) -> tensor<2xi32>
    %out = "stablehlo.all_reduce"(%a) ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %sum = stablehlo.add %x, %y : tensor<i32>
      stablehlo.return %sum : tensor<i32>
    }) {replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<2xi32>) -> tensor<2xi32>)",
                     {"tensor<2xi32>", "[1, 2]"}) == "pass");
  CHECK(runOperation({}, "%out = stablehlo.partition_id : tensor<ui32>", {"tensor<ui32>", "0"}) ==
        "pass");
  CHECK(runOperation({{"tensor<2xi32>", "[1, 2]"}}, R"(
    %out = "stablehlo.all_reduce"(%in0) ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %sum = stablehlo.add %x, %y : tensor<i32>
      stablehlo.return %sum : tensor<i32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi32>) -> tensor<2xi32>)",
                     {"tensor<2xi32>", "[1, 2]"})
            .find("'stablehlo.all_reduce' over several devices") != std::string::npos);
}
