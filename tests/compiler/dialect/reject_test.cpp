// What the verifiers and parsers refuse, where, and in which words.

#include "tests/compiler/dialect/dialect_fixture.h"

#include <doctest/doctest.h>

using nocturne::test::DialectFixture;

namespace {

struct Rejected {
  const char* body; // on line 2; %a, %b: tensor<4x4xf32>, %i: tensor<i32>
  const char* error;
};

const Rejected kRejected[] = {
    {"%0 = stablehlo.add %a, %i : (tensor<4x4xf32>, tensor<i32>) -> tensor<4x4xf32>",
     "2:6: 'stablehlo.add' op expected operands and results of compatible shapes, got "
     "'tensor<4x4xf32>' and 'tensor<i32>'"},
    {"%0 = stablehlo.and %a, %b : tensor<4x4xf32>",
     "2:6: 'stablehlo.and' op operand #0 must be tensor of integer or boolean values, but got "
     "'tensor<4x4xf32>'"},
    {"%0 = stablehlo.add %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf64>",
     "2:6: 'stablehlo.add' op expected operands and results of one element type, got "
     "'tensor<4x4xf32>' and 'tensor<4x4xf64>'"},
    {"%0 = stablehlo.reshape %a : (tensor<4x4xf32>) -> tensor<15xf32>",
     "2:6: 'stablehlo.reshape' op expected operand and result with the same number of elements, "
     "got 16 and 15"},
    {"%0 = stablehlo.transpose %a, dims = [0, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>",
     "2:6: 'stablehlo.transpose' op expected distinct permutation entries, got [0, 0]"},
    {"%0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> "
     "tensor<4x4xf32>",
     "2:6: 'stablehlo.concatenate' op expected a result of shape [8, 4], got [4, 4]"},
    {"%0 = stablehlo.slice %a [0:5, 0:4] : (tensor<4x4xf32>) -> tensor<5x4xf32>",
     "2:6: 'stablehlo.slice' op expected 0 <= start <= limit <= size in dimension 0, got start 0, "
     "limit 5 and size 4"},
    {"%0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<4x4xf32>) -> tensor<4x4xf32>",
     "2:6: 'stablehlo.broadcast_in_dim' op expected 2 broadcast dimensions, got 1"},
    {"%0 = stablehlo.iota dim = 2 : tensor<4x4xi32>",
     "2:6: 'stablehlo.iota' op expected iota dimension in [0, 2), got 2"},
    {"%0 = stablehlo.dot_general %a, %b, contracting_dims = [1, 0] x [0] : (tensor<4x4xf32>, "
     "tensor<4x4xf32>) -> tensor<4xf32>",
     "2:6: 'stablehlo.dot_general' op expected as many contracting dimensions on both sides, got 2 "
     "and 1"},
    {"%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x4xf32>, "
     "tensor<4x4xf32>) -> tensor<4x5xf32>",
     "2:6: 'stablehlo.dot_general' op expected a result of shape [4, 4], got [4, 5]"},
    {"%0 = stablehlo.pad %a, %a, low = [0, 0], high = [0, 0], interior = [0, 0] : "
     "(tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>",
     "2:6: 'stablehlo.pad' op expected a padding value of rank 0, got 'tensor<4x4xf32>'"},
    {"%0 = stablehlo.tuple %a : tuple<tensor<4x4xf32>>\n"
     "%1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4x4xf32>>) -> tensor<4x4xf32>",
     "3:6: 'stablehlo.get_tuple_element' op expected index in [0, 1), got 1"},
    {"\"stablehlo.if\"(%i) ({ stablehlo.return }, { stablehlo.return }) : (tensor<i32>) -> ()",
     "2:1: 'stablehlo.if' op operand #0 must be tensor of boolean values, but got 'tensor<i32>'"},
    {"\"stablehlo.case\"(%i) : (tensor<i32>) -> ()",
     "2:1: 'stablehlo.case' op expected at least 1 branch, got 0"},
    {"%0 = \"stablehlo.case\"(%i) ({ stablehlo.return }) : (tensor<i32>) -> tensor<i32>",
     "2:6: 'stablehlo.case' op expected a branch that returns 1 value(s), got 0"},
    {"%0 = \"stablehlo.transpose\"(%a) {permutation = \"no\"} : (tensor<4x4xf32>) -> "
     "tensor<4x4xf32>",
     "2:6: 'stablehlo.transpose' op attribute 'permutation' failed to satisfy constraint: list of "
     "64-bit integers (array<i64> or dense)"},
    {"%0 = stablehlo.dot_general %a, %b, contracting = [1] x [0] : (tensor<4x4xf32>, "
     "tensor<4x4xf32>) -> tensor<4x4xf32>",
     "2:36: custom op 'stablehlo.dot_general' expected batching_dims, contracting_dims, precision "
     "or algorithm, got contracting"},
    {"%0 = stablehlo.reduce_precision %a, format = f5m10 : tensor<4x4xf32>",
     "2:46: custom op 'stablehlo.reduce_precision' expected a format like e5m10, got f5m10"},
};

} // namespace

TEST_CASE("a wrong operation is refused at its place, with what was expected") {
  DialectFixture fixture;
  for (const Rejected& rejected : kRejected) {
    CAPTURE(rejected.body);
    CHECK_FALSE(fixture.parseBody(rejected.body));
    CHECK(fixture.error() == rejected.error);
  }
}

TEST_CASE("a while whose condition returns no boolean is refused") {
  DialectFixture fixture;
  CHECK_FALSE(fixture.parseBody(R"(%0 = stablehlo.while(%x = %i) : tensor<i32>
     cond { stablehlo.return %x : tensor<i32> } do { stablehlo.return %x : tensor<i32> })"));
  CHECK(fixture.error() ==
        "2:6: 'stablehlo.while' op expected a condition that returns a boolean, got 'tensor<i32>'");
}

TEST_CASE("a reducer with the wrong number of arguments is refused") {
  DialectFixture fixture;
  CHECK_FALSE(fixture.parseBody(R"(%z = stablehlo.constant dense<0.0> : tensor<f32>
%0 = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 0>}> ({ ^bb0(%l: tensor<f32>):
      stablehlo.return %l : tensor<f32> }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>)"));
  CHECK(fixture.error() ==
        "3:6: 'stablehlo.reduce' op expected a reducer with 2 argument(s), got 1");
}

TEST_CASE("a structured attribute names the field that it does not know") {
  DialectFixture fixture;
  CHECK_FALSE(fixture.parse("module attributes {test.a = #stablehlo.dot<lhs_dims = [1]>} {}"));
  CHECK(fixture.error() == "1:44: unknown field 'lhs_dims'");
}
