// convolution, with values worked out by hand.
#include <string>

#include "tests/compiler/lowering/claims.h"

using nocturne::compiler::testing::Claims;
using nocturne::compiler::testing::Operand;

namespace {

struct Groups {
  unsigned features = 1, batches = 1;
};

void expectConvolution(Claims& claims, const std::string& dims, const std::string& window,
                       const Operand& lhs, const Operand& rhs, const Operand& result,
                       Groups groups = {}) {
  std::string left = claims.value(lhs.type, lhs.dense), right = claims.value(rhs.type, rhs.dense);
  claims.equal(claims.result("stablehlo.convolution(" + left + ", " + right +
                             ") dim_numbers = " + dims + ", window = {" + window +
                             "} {batch_group_count = " + std::to_string(groups.batches) +
                             " : i64, feature_group_count = " + std::to_string(groups.features) +
                             " : i64} : (" + lhs.type + ", " + rhs.type + ") -> " + result.type),
               result.type, result.dense);
}

// A line of four elements and a window of two.
const std::string kLine = "[b, 0, f]x[0, i, o]->[b, 0, f]";
const Operand kFour{"tensor<1x4x1xf32>", "[[[1.0], [2.0], [3.0], [4.0]]]"};
const Operand kTwo{"tensor<2x1x1xf32>", "[[[1.0]], [[10.0]]]"};

TEST_CASE("windows of a convolution stride, pad, dilate and turn") {
  Claims claims;
  expectConvolution(claims, kLine, "", kFour, kTwo,
                    {"tensor<1x3x1xf32>", "[[[21.0], [32.0], [43.0]]]"});
  expectConvolution(claims, kLine, "stride = [2]", kFour, kTwo,
                    {"tensor<1x2x1xf32>", "[[[21.0], [43.0]]]"});
  expectConvolution(claims, kLine, "pad = [[1, 1]]", kFour, kTwo,
                    {"tensor<1x5x1xf32>", "[[[10.0], [21.0], [32.0], [43.0], [4.0]]]"});
  expectConvolution(claims, kLine, "pad = [[-1, 0]]", kFour, kTwo,
                    {"tensor<1x2x1xf32>", "[[[32.0], [43.0]]]"});
  // 1 0 2 0 3 0 4
  expectConvolution(claims, kLine, "lhs_dilate = [2]", kFour, kTwo,
                    {"tensor<1x6x1xf32>", "[[[1.0], [20.0], [2.0], [30.0], [3.0], [40.0]]]"});
  // Padding cuts into what dilation put between.
  expectConvolution(claims, kLine, "pad = [[-1, -2]], lhs_dilate = [2]", kFour, kTwo,
                    {"tensor<1x3x1xf32>", "[[[20.0], [2.0], [30.0]]]"});
  expectConvolution(claims, kLine, "rhs_dilate = [2]", kFour, kTwo,
                    {"tensor<1x2x1xf32>", "[[[31.0], [42.0]]]"});
  expectConvolution(claims, kLine, "reverse = [1]", kFour, kTwo,
                    {"tensor<1x3x1xf32>", "[[[12.0], [23.0], [34.0]]]"});
  claims.hold();
}

TEST_CASE("convolutions take every layout of images") {
  Claims claims;
  // A 3x3 image 1 .. 9 and the window [[1, 2], [3, 4]]: 1*1 + 2*2 + 4*3 + 5*4 = 37 and so on.
  const std::string image = "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]";
  const std::string window = "[[1.0, 2.0], [3.0, 4.0]]", result = "[[37.0, 47.0], [67.0, 77.0]]";
  expectConvolution(claims, "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]", "",
                    {"tensor<1x1x3x3xf32>", "[[" + image + "]]"},
                    {"tensor<1x1x2x2xf32>", "[[" + window + "]]"},
                    {"tensor<1x1x2x2xf32>", "[[" + result + "]]"});
  expectConvolution(claims, "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "",
                    {"tensor<1x3x3x1xf32>",
                     "[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]], [[7.0], [8.0], [9.0]]]]"},
                    {"tensor<2x2x1x1xf32>", "[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]"},
                    {"tensor<1x2x2x1xf32>", "[[[[37.0], [47.0]], [[67.0], [77.0]]]]"});
  expectConvolution(
      claims, "[0, 1, b, f]x[i, o, 0, 1]->[f, b, 1, 0]", "",
      {"tensor<3x3x1x1xf32>",
       "[[[[1.0]], [[2.0]], [[3.0]]], [[[4.0]], [[5.0]], [[6.0]]], [[[7.0]], [[8.0]], "
       "[[9.0]]]]"},
      {"tensor<1x1x2x2xf32>", "[[" + window + "]]"},
      {"tensor<1x1x2x2xf32>", "[[[[37.0, 67.0], [47.0, 77.0]]]]"});
  claims.hold();
}

TEST_CASE("a window of one element is a matrix product") {
  Claims claims;
  const Operand input{"tensor<1x3x2xf32>", "[[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]"};
  const Operand kernel{"tensor<1x2x2xf32>", "[[[1.0, 0.0], [1.0, 2.0]]]"};
  expectConvolution(claims, kLine, "", input, kernel,
                    {"tensor<1x3x2xf32>", "[[[3.0, 4.0], [7.0, 8.0], [11.0, 12.0]]]"});
  expectConvolution(claims, kLine, "stride = [2]", input, kernel,
                    {"tensor<1x2x2xf32>", "[[[3.0, 4.0], [11.0, 12.0]]]"});
  claims.hold();
}

TEST_CASE("groups of features and of batches do not meet") {
  Claims claims;
  const Operand input{"tensor<1x2x2xf32>", "[[[1.0, 2.0], [3.0, 4.0]]]"};
  // One feature in each group, two results of it: 1 and 10 times the first, 2 and 20 times the
  // second, added along the line.
  expectConvolution(claims, kLine, "", input,
                    {"tensor<2x1x4xf32>", "[[[1.0, 10.0, 2.0, 20.0]], [[1.0, 10.0, 2.0, 20.0]]]"},
                    {"tensor<1x1x4xf32>", "[[[4.0, 40.0, 12.0, 120.0]]]"}, {2, 1});
  // Depthwise.
  expectConvolution(claims, kLine, "", input, {"tensor<2x1x2xf32>", "[[[1.0, 2.0]], [[3.0, 4.0]]]"},
                    {"tensor<1x1x2xf32>", "[[[10.0, 20.0]]]"}, {2, 1});
  // Two features in each of two groups.
  expectConvolution(claims, kLine, "", {"tensor<1x1x4xf32>", "[[[1.0, 2.0, 3.0, 4.0]]]"},
                    {"tensor<1x2x2xf32>", "[[[1.0, 1.0], [10.0, 100.0]]]"},
                    {"tensor<1x1x2xf32>", "[[[21.0, 403.0]]]"}, {2, 1});
  // The first half of the batch makes the first half of the features.
  expectConvolution(claims, kLine, "", {"tensor<2x2x1xf32>", "[[[1.0], [2.0]], [[3.0], [4.0]]]"},
                    {"tensor<2x1x2xf32>", "[[[1.0, 1.0]], [[10.0, 100.0]]]"},
                    {"tensor<1x1x2xf32>", "[[[21.0, 403.0]]]"}, {1, 2});
  claims.hold();
}

TEST_CASE("convolutions add up in the result's type") {
  Claims claims;
  expectConvolution(claims, kLine, "", {"tensor<1x3x1xbf16>", "[[[256.0], [1.0], [1.0]]]"},
                    {"tensor<3x1x1xbf16>", "1.0"}, {"tensor<1x1x1xbf16>", "258.0"});
  expectConvolution(claims, kLine, "", {"tensor<1x2x1xi8>", "[[[100], [-100]]]"},
                    {"tensor<2x1x1xi8>", "[[[100]], [[50]]]"}, {"tensor<1x1x1xi32>", "5000"});
  claims.hold();
}

TEST_CASE("a dynamic convolution whose padding is a constant is a convolution") {
  Claims claims;
  const std::string input = claims.value("tensor<1x3x1xf32>", "[[[1.0], [2.0], [3.0]]]");
  const std::string kernel = claims.value("tensor<2x1x1xf32>", "[[[10.0]], [[1.0]]]");
  const std::string padding = claims.value("tensor<1x2xi32>", "[[1, 0]]");
  const std::string result = claims.result(
      "\"stablehlo.dynamic_conv\"(" + input + ", " + kernel + ", " + padding +
      ") <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, "
      "feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x3x1xf32>, "
      "tensor<2x1x1xf32>, tensor<1x2xi32>) -> tensor<1x3x1xf32>");
  claims.equal(result, "tensor<1x3x1xf32>", "[[[1.0], [12.0], [23.0]]]");
  claims.hold();
}

TEST_CASE("a convolution of no images gives none") {
  Claims claims;
  expectConvolution(claims, kLine, "stride = [2]", {"tensor<0x3x2xf32>", ""},
                    {"tensor<1x2x2xf32>", "1.0"}, {"tensor<0x2x2xf32>", ""});
  claims.hold();
}

TEST_CASE("a convolution without spatial dimensions is a product") {
  Claims claims;
  expectConvolution(claims, "[b, f]x[i, o]->[b, f]", "", {"tensor<1x2xf32>", "[[1.0, 2.0]]"},
                    {"tensor<2x1xf32>", "[[3.0], [4.0]]"}, {"tensor<1x1xf32>", "11.0"});
  claims.hold();
}

} // namespace
