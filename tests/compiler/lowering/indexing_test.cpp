#include <doctest/doctest.h>

#include "run_function.h"

using namespace nocturne::compiler::testing;

namespace {

using Texts = std::vector<std::string>;

// A scatter of `updates` into a line of four, with `computation` as its region.
Texts scatterLine(const std::string& indices, const std::string& updates,
                  const std::string& computation) {
  return runFunction({{"tensor<4xi32>", "[10, 20, 30, 40]"},
                      {"tensor<3x1xi32>", indices},
                      {"tensor<3xi32>", updates}},
                     R"(%r = "stablehlo.scatter"(%a, %b, %c) <{
      scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%old: tensor<i32>, %new: tensor<i32>):)" +
                         computation + R"(
        stablehlo.return %value : tensor<i32>
      }) : (tensor<4xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<4xi32>
    return %r : tensor<4xi32>)",
                     "tensor<4xi32>");
}

} // namespace

TEST_CASE("a gather clamps its starts so that every slice lies in the operand") {
  // Slices of two from [10, 20, 30, 40]: starts -1 and 3 become 0 and 2.
  CHECK(
      runFunction({{"tensor<4xi32>", "[10, 20, 30, 40]"}, {"tensor<3x1xi32>", "[[-1], [1], [3]]"}},
                  R"(%r = "stablehlo.gather"(%a, %b) <{
      dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0],
        index_vector_dim = 1>, slice_sizes = array<i64: 2>}>
      : (tensor<4xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
    return %r : tensor<3x2xi32>)",
                  "tensor<3x2xi32>") == Texts{"i32[3,2] = [[10, 20], [20, 30], [30, 40]]"});
}

TEST_CASE("a gather puts offsets where its dimension numbers say") {
  // Columns 2 and 0 of a matrix, each as a column of the result.
  CHECK(runFunction({{"tensor<2x3xi32>", "[[1, 2, 3], [4, 5, 6]]"}, {"tensor<2xi64>", "[2, 0]"}},
                    R"(%r = "stablehlo.gather"(%a, %b) <{
      dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1],
        start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1>}>
      : (tensor<2x3xi32>, tensor<2xi64>) -> tensor<2x2xi32>
    return %r : tensor<2x2xi32>)",
                    "tensor<2x2xi32>") == Texts{"i32[2,2] = [[3, 1], [6, 4]]"});
}

TEST_CASE("a gather without indices gives nothing") {
  CHECK(runFunction({{"tensor<5x4xi32>", "1"}, {"tensor<0x1xi64>", ""}},
                    R"(%r = "stablehlo.gather"(%a, %b) <{
      dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
        start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}>
      : (tensor<5x4xi32>, tensor<0x1xi64>) -> tensor<0x4xi32>
    return %r : tensor<0x4xi32>)",
                    "tensor<0x4xi32>") == Texts{"i32[0,4] = []"});
}

TEST_CASE("batching dimensions of a gather are walked together") {
  // One index for each row.
  CHECK(runFunction(
            {{"tensor<2x3xi32>", "[[1, 2, 3], [4, 5, 6]]"}, {"tensor<2x1xui8>", "[[200], [1]]"}},
            R"(%r = "stablehlo.gather"(%a, %b) <{
      dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1],
        operand_batching_dims = [0], start_indices_batching_dims = [0],
        start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}>
      : (tensor<2x3xi32>, tensor<2x1xui8>) -> tensor<2xi32>
    return %r : tensor<2xi32>)",
            "tensor<2xi32>") == Texts{"i32[2] = [3, 5]"});
}

TEST_CASE("torch_index_select takes slices along one dimension, by batch") {
  CHECK(runFunction({{"tensor<2x3xi32>", "[[1, 2, 3], [4, 5, 6]]"},
                     {"tensor<2x2xi32>", "[[2, 0], [1, 1]]"}},
                    R"(%r = stablehlo.torch_index_select %a, %b, dim = 1, batch_dims = 1
      : (tensor<2x3xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    return %r : tensor<2x2xi32>)",
                    "tensor<2x2xi32>") == Texts{"i32[2,2] = [[3, 1], [5, 5]]"});
}

TEST_CASE("a scatter applies its computation once for each index, in their order") {
  const std::string add = "%value = stablehlo.add %old, %new : tensor<i32>";
  CHECK(scatterLine("[[1], [3], [1]]", "[1, 2, 3]", add) == Texts{"i32[4] = [10, 24, 30, 42]"});
  // The later of two updates of one place stays.
  const std::string replace = "%value = stablehlo.reshape %new : (tensor<i32>) -> tensor<i32>";
  CHECK(scatterLine("[[1], [3], [1]]", "[1, 2, 3]", replace) == Texts{"i32[4] = [10, 3, 30, 2]"});
}

TEST_CASE("a scatter leaves out updates that do not lie in its input") {
  const std::string add = "%value = stablehlo.add %old, %new : tensor<i32>";
  CHECK(scatterLine("[[4], [-1], [0]]", "[1, 2, 3]", add) == Texts{"i32[4] = [13, 20, 30, 40]"});
}

TEST_CASE("a window of a scatter that lies only partly in the input is left out as a whole") {
  CHECK(runFunction({{"tensor<4xi32>", "[1, 1, 1, 1]"},
                     {"tensor<2x1xi32>", "[[0], [3]]"},
                     {"tensor<2x2xi32>", "[[5, 6], [7, 8]]"}},
                    R"(%r = "stablehlo.scatter"(%a, %b, %c) <{
      scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%old: tensor<i32>, %new: tensor<i32>):
        %value = stablehlo.add %old, %new : tensor<i32>
        stablehlo.return %value : tensor<i32>
      }) : (tensor<4xi32>, tensor<2x1xi32>, tensor<2x2xi32>) -> tensor<4xi32>
    return %r : tensor<4xi32>)",
                    "tensor<4xi32>") == Texts{"i32[4] = [6, 7, 1, 1]"});
}

TEST_CASE("a scatter of several inputs may mix them") {
  CHECK(runFunction({{"tensor<2xi32>", "[1, 2]"},
                     {"tensor<2xi32>", "[10, 20]"},
                     {"tensor<1x1xi32>", "[[1]]"},
                     {"tensor<1xi32>", "[3]"},
                     {"tensor<1xi32>", "[5]"}},
                    R"(%r:2 = "stablehlo.scatter"(%a, %b, %c, %d, %e) <{
      scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>, %u: tensor<i32>, %v: tensor<i32>):
        %p = stablehlo.add %x, %v : tensor<i32>
        %q = stablehlo.multiply %y, %u : tensor<i32>
        stablehlo.return %p, %q : tensor<i32>, tensor<i32>
      }) : (tensor<2xi32>, tensor<2xi32>, tensor<1x1xi32>, tensor<1xi32>, tensor<1xi32>)
        -> (tensor<2xi32>, tensor<2xi32>)
    return %r#0, %r#1 : tensor<2xi32>, tensor<2xi32>)",
                    "tensor<2xi32>, tensor<2xi32>") ==
        Texts{"i32[2] = [1, 7]", "i32[2] = [10, 60]"});
}

TEST_CASE("the computation of a scatter may return a constant from around it") {
  CHECK(
      runFunction(
          {{"tensor<3xi32>", "[1, 2, 3]"}, {"tensor<1x1xi32>", "[[1]]"}, {"tensor<1xi32>", "[5]"}},
          R"(%nine = stablehlo.constant dense<9> : tensor<i32>
    %r = "stablehlo.scatter"(%a, %b, %c) <{
      scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%old: tensor<i32>, %new: tensor<i32>):
        stablehlo.return %nine : tensor<i32>
      }) : (tensor<3xi32>, tensor<1x1xi32>, tensor<1xi32>) -> tensor<3xi32>
    return %r : tensor<3xi32>)",
          "tensor<3xi32>") == Texts{"i32[3] = [1, 9, 3]"});
}

TEST_CASE("the computation of a scatter may be of a wider type, which the result then has") {
  const std::string numbers = R"(<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>)",
                    windows = R"(<update_window_dims = [1],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>)";
  const auto scattered = [](const std::string& dimensions, const std::string& updates,
                            const std::string& type) {
    return runFunction(
        {{"tensor<3xbf16>", "[1.0, 256.0, 3.0]"}, {"tensor<1x1xi32>", "[[1]]"}, {type, updates}},
        R"(%r = "stablehlo.scatter"(%a, %b, %c) <{
      scatter_dimension_numbers = #stablehlo.scatter)" +
            dimensions + R"(}> ({
      ^bb0(%old: tensor<f32>, %new: tensor<f32>):
        %s = stablehlo.add %old, %new : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<3xbf16>, tensor<1x1xi32>, )" +
            type + R"() -> tensor<3xf32>
    return %r : tensor<3xf32>)",
        "tensor<3xf32>");
  };
  // Sums that bf16 would round.
  CHECK(scattered(numbers, "[1.0]", "tensor<1xbf16>") == Texts{"f32[3] = [1, 257, 3]"});
  CHECK(scattered(windows, "[[1.0, 2.0]]", "tensor<1x2xbf16>") == Texts{"f32[3] = [1, 257, 5]"});
}
