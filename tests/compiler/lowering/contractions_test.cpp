// dot, dot_general and einsum, with values worked out by hand.
#include <string>

#include "tests/compiler/lowering/claims.h"

using nocturne::compiler::testing::Claims;
using nocturne::compiler::testing::Operand;

namespace {

const Operand kLeft{"tensor<2x3xf32>", "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]"};
const Operand kRight{"tensor<3x2xf32>", "[[1.0, 0.0], [0.0, 1.0], [2.0, -1.0]]"};

void expectDot(Claims& claims, const std::string& dimensions, const Operand& lhs,
               const Operand& rhs, const Operand& result) {
  std::string left = claims.value(lhs.type, lhs.dense), right = claims.value(rhs.type, rhs.dense);
  claims.equal(claims.result("stablehlo.dot_general " + left + ", " + right + ", " + dimensions +
                             " : (" + lhs.type + ", " + rhs.type + ") -> " + result.type),
               result.type, result.dense);
}

void expectEinsum(Claims& claims, const std::string& config, const Operand& lhs, const Operand& rhs,
                  const Operand& result) {
  std::string left = claims.value(lhs.type, lhs.dense), right = claims.value(rhs.type, rhs.dense);
  claims.equal(claims.result("stablehlo.einsum " + left + ", " + right + ", config = \"" + config +
                             "\" : (" + lhs.type + ", " + rhs.type + ") -> " + result.type),
               result.type, result.dense);
}

TEST_CASE("dot multiplies matrices and vectors") {
  Claims claims;
  auto expect = [&](const Operand& lhs, const Operand& rhs, const Operand& result) {
    std::string left = claims.value(lhs.type, lhs.dense), right = claims.value(rhs.type, rhs.dense);
    claims.equal(claims.result("stablehlo.dot " + left + ", " + right + " : (" + lhs.type + ", " +
                               rhs.type + ") -> " + result.type),
                 result.type, result.dense);
  };
  expect(kLeft, kRight, {"tensor<2x2xf32>", "[[7.0, -1.0], [16.0, -1.0]]"});
  expect(kLeft, {"tensor<3xf32>", "[1.0, 0.0, -1.0]"}, {"tensor<2xf32>", "[-2.0, -2.0]"});
  expect({"tensor<3xf32>", "[1.0, 2.0, 3.0]"}, kRight, {"tensor<2xf32>", "[7.0, -1.0]"});
  expect({"tensor<2xf32>", "[1.0, 2.0]"}, {"tensor<2xf32>", "[3.0, 4.0]"}, {"tensor<f32>", "11.0"});
  claims.hold();
}

TEST_CASE("dot_general contracts any dimensions") {
  Claims claims;
  const Operand product{"tensor<2x2xf32>", "[[7.0, -1.0], [16.0, -1.0]]"};
  const Operand turnedLeft{"tensor<3x2xf32>", "[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]"};
  const Operand turnedRight{"tensor<2x3xf32>", "[[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]]"};
  expectDot(claims, "contracting_dims = [1] x [0]", kLeft, kRight, product);
  expectDot(claims, "contracting_dims = [0] x [0]", turnedLeft, kRight, product);
  expectDot(claims, "contracting_dims = [1] x [1]", kLeft, turnedRight, product);
  expectDot(claims, "contracting_dims = [0] x [1]", turnedLeft, turnedRight, product);
  expectDot(claims, "contracting_dims = [0, 1] x [1, 0]", kLeft, turnedLeft,
            {"tensor<f32>", "91.0"});
  expectDot(claims, "contracting_dims = [] x []", {"tensor<2xf32>", "[1.0, 2.0]"},
            {"tensor<2xf32>", "[3.0, 4.0]"}, {"tensor<2x2xf32>", "[[3.0, 4.0], [6.0, 8.0]]"});
  // Nothing to add up.
  expectDot(claims, "contracting_dims = [1] x [0]", {"tensor<2x0xf32>", ""},
            {"tensor<0x2xf32>", ""}, {"tensor<2x2xf32>", "0.0"});
  claims.hold();
}

TEST_CASE("dot_general pairs batches wherever they are") {
  Claims claims;
  // Two products of a row of two and a 2x2 matrix: [1 2] * [[1 0] [0 1]], [3 4] * [[0 1] [1 0]].
  const Operand product{"tensor<2x1x2xf32>", "[[[1.0, 2.0]], [[4.0, 3.0]]]"};
  const Operand matrices{"tensor<2x2x2xf32>",
                         "[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]"};
  expectDot(claims, "batching_dims = [0] x [0], contracting_dims = [2] x [1]",
            {"tensor<2x1x2xf32>", "[[[1.0, 2.0]], [[3.0, 4.0]]]"}, matrices, product);
  expectDot(claims, "batching_dims = [1] x [0], contracting_dims = [2] x [1]",
            {"tensor<1x2x2xf32>", "[[[1.0, 2.0], [3.0, 4.0]]]"}, matrices, product);
  expectDot(claims, "batching_dims = [2] x [2], contracting_dims = [0] x [0]",
            {"tensor<2x1x2xf32>", "[[[1.0, 3.0]], [[2.0, 4.0]]]"},
            {"tensor<2x2x2xf32>", "[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]"}, product);
  // Batches alone.
  expectDot(claims, "batching_dims = [0] x [0], contracting_dims = [] x []",
            {"tensor<2xf32>", "[2.0, 3.0]"}, {"tensor<2xf32>", "[5.0, 7.0]"},
            {"tensor<2xf32>", "[10.0, 21.0]"});
  claims.hold();
}

TEST_CASE("rows of many dimensions are one matrix") {
  Claims claims;
  expectDot(claims, "contracting_dims = [2] x [0]",
            {"tensor<2x2x2xf32>", "[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]"},
            {"tensor<2x2xf32>", "[[1.0, 1.0], [1.0, -1.0]]"},
            {"tensor<2x2x2xf32>", "[[[3.0, -1.0], [7.0, -1.0]], [[11.0, -1.0], [15.0, -1.0]]]"});
  claims.hold();
}

TEST_CASE("products are added up in the result's type") {
  Claims claims;
  const std::string dims = "contracting_dims = [0] x [0]";
  expectDot(claims, dims, {"tensor<2xi8>", "[100, -100]"}, {"tensor<2xi8>", "[100, 100]"},
            {"tensor<i32>", "0"});
  expectDot(claims, dims, {"tensor<2xui8>", "[200, 200]"}, {"tensor<2xui8>", "[200, 200]"},
            {"tensor<ui32>", "80000"});
  expectDot(claims, dims, {"tensor<2xi8>", "[100, 100]"}, {"tensor<2xi8>", "[1, 1]"},
            {"tensor<i8>", "-56"});
  expectDot(claims, dims, {"tensor<3xbf16>", "[256.0, 1.0, 1.0]"}, {"tensor<3xbf16>", "1.0"},
            {"tensor<bf16>", "258.0"});
  expectDot(claims, dims, {"tensor<2xbf16>", "[256.0, 1.0]"}, {"tensor<2xbf16>", "1.0"},
            {"tensor<f32>", "257.0"});
  expectDot(claims, dims, {"tensor<2xf8E4M3FN>", "[2.0, 3.0]"}, {"tensor<2xbf16>", "[4.0, 0.5]"},
            {"tensor<f32>", "9.5"});
  expectDot(claims, dims, {"tensor<2xi1>", "[true, true]"}, {"tensor<2xi1>", "[true, true]"},
            {"tensor<i1>", "true"});
  expectDot(claims, dims, {"tensor<2xcomplex<f32>>", "[(1.0, 2.0), (0.0, 1.0)]"},
            {"tensor<2xcomplex<f32>>", "[(3.0, -1.0), (0.0, 1.0)]"},
            {"tensor<complex<f32>>", "(4.0, 5.0)"});
  claims.hold();
}

TEST_CASE("einsum names its dimensions") {
  Claims claims;
  expectEinsum(claims, "ij,jk->ik", kLeft, kRight,
               {"tensor<2x2xf32>", "[[7.0, -1.0], [16.0, -1.0]]"});
  expectEinsum(claims, "ij,jk->ki", kLeft, kRight,
               {"tensor<2x2xf32>", "[[7.0, 16.0], [-1.0, -1.0]]"});
  // A label that only one side has, and that the result lacks.
  expectEinsum(claims, "ij,k->k", kLeft, {"tensor<2xf32>", "[1.0, 2.0]"},
               {"tensor<2xf32>", "[21.0, 42.0]"});
  // The diagonal of the left side.
  expectEinsum(claims, "ii,i->i", {"tensor<2x2xf32>", "[[2.0, 5.0], [7.0, 3.0]]"},
               {"tensor<2xf32>", "[10.0, 100.0]"}, {"tensor<2xf32>", "[20.0, 300.0]"});
  expectEinsum(claims, "...i,i->...", kLeft, {"tensor<3xf32>", "1.0"},
               {"tensor<2xf32>", "[6.0, 15.0]"});
  claims.hold();
}

TEST_CASE("unary_einsum sums, transposes and takes diagonals") {
  Claims claims;
  auto expect = [&](const std::string& config, const Operand& operand, const Operand& result) {
    std::string value = claims.value(operand.type, operand.dense);
    claims.equal(claims.result("stablehlo.unary_einsum " + value + ", config = \"" + config +
                               "\" : (" + operand.type + ") -> " + result.type),
                 result.type, result.dense);
  };
  expect("ij->i", kLeft, {"tensor<2xf32>", "[6.0, 15.0]"});
  expect("ij->ji", kLeft, {"tensor<3x2xf32>", "[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]"});
  expect("ii->", {"tensor<2x2xi32>", "[[2, 5], [7, 3]]"}, {"tensor<i32>", "5"});
  claims.hold();
}

} // namespace
