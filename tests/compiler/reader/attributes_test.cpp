#include <doctest/doctest.h>

#include "read_text.h"

using namespace nocturne;
using namespace nocturne::compiler;
using namespace nocturne::compiler::testing;

namespace {

// The attributes of the only operation of a function with these arguments.
OpInfo firstOp(const std::string& arguments, const std::string& op) {
  ModulePtr module = read("func.func @main(" + arguments + ") {\n" + op + "\nreturn\n}");
  return module->ops[module->rows[0].op];
}

template <typename T>
T attributesOf(const std::string& arguments, const std::string& op) {
  OpInfo info = firstOp(arguments, op);
  const T* attributes = info.get<T>();
  REQUIRE(attributes);
  return *attributes;
}

} // namespace

TEST_CASE("dot_general has its dimensions, precision and accumulation type") {
  auto dot = attributesOf<DotAttributes>(
      "%a: tensor<2x3x4xbf16>, %b: tensor<2x4x5xbf16>",
      "%0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1],"
      " precision = [HIGH, HIGHEST]"
      " : (tensor<2x3x4xbf16>, tensor<2x4x5xbf16>) -> tensor<2x3x5xbf16>");
  CHECK(dot.lhsBatching == Dims{0});
  CHECK(dot.rhsBatching == Dims{0});
  CHECK(dot.lhsContracting == Dims{2});
  CHECK(dot.rhsContracting == Dims{1});
  CHECK(dot.precision == std::vector<std::string>{"HIGH", "HIGHEST"});
  CHECK(dot.accumulation == ElementKind::None);
}

TEST_CASE("the accumulation type comes from the algorithm") {
  auto dot = attributesOf<DotAttributes>("%a: tensor<2x3xbf16>, %b: tensor<3x5xbf16>",
                                         R"(%0 = "stablehlo.dot_general"(%a, %b) <{
        dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>,
        algorithm = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16,
          accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1,
          num_primitive_operations = 1, allow_imprecise_accumulation = false>}>
        : (tensor<2x3xbf16>, tensor<3x5xbf16>) -> tensor<2x5xbf16>)");
  CHECK(dot.accumulation == ElementKind::F32);
  CHECK(dot.precision.empty());
}

TEST_CASE("dot contracts the last dimension with the first") {
  auto dot = attributesOf<DotAttributes>(
      "%a: tensor<2x3xf32>, %b: tensor<3x5xf32>",
      "%0 = stablehlo.dot %a, %b : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>");
  CHECK(dot.lhsContracting == Dims{1});
  CHECK(dot.rhsContracting == Dims{0});
  auto vector = attributesOf<DotAttributes>(
      "%a: tensor<3xf32>, %b: tensor<3xf32>",
      "%0 = stablehlo.dot %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>");
  CHECK(vector.lhsContracting == Dims{0});
}

TEST_CASE("einsum is read as the contraction it means") {
  auto dot =
      attributesOf<DotAttributes>("%a: tensor<7x2x3xf32>, %b: tensor<7x3x5xf32>",
                                  "%0 = stablehlo.einsum %a, %b, config = \"bik,bkj->bij\""
                                  " : (tensor<7x2x3xf32>, tensor<7x3x5xf32>) -> tensor<7x2x5xf32>");
  CHECK(dot.lhsBatching == Dims{0});
  CHECK(dot.rhsBatching == Dims{0});
  CHECK(dot.lhsContracting == Dims{2});
  CHECK(dot.rhsContracting == Dims{1});
  CHECK(dot.precision.empty());
  CHECK(attributesOf<DotAttributes>(
            "%a: tensor<2x3xf32>, %b: tensor<3x5xf32>",
            "%0 = stablehlo.einsum %a, %b, config = \"ik,kj->ij\" {precision_config ="
            " [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]}"
            " : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>")
            .precision == std::vector<std::string>{"HIGHEST", "DEFAULT"});
}

TEST_CASE("a convolution has its dimension numbers and its window") {
  auto conv = attributesOf<ConvolutionAttributes>(
      "%a: tensor<1x8x9x4xf32>, %b: tensor<3x2x2x16xf32>",
      "%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],"
      " window = {stride = [2, 1], pad = [[1, 0], [0, 2]], rhs_dilate = [1, 3]}"
      " {batch_group_count = 1 : i64, feature_group_count = 2 : i64}"
      " : (tensor<1x8x9x4xf32>, tensor<3x2x2x16xf32>) -> tensor<1x4x8x16xf32>");
  CHECK(conv.lhsBatch == 0);
  CHECK(conv.lhsFeature == 3);
  CHECK(conv.lhsSpatial == Dims{1, 2});
  CHECK(conv.rhsInputFeature == 2);
  CHECK(conv.rhsOutputFeature == 3);
  CHECK(conv.rhsSpatial == Dims{0, 1});
  CHECK(conv.outFeature == 3);
  CHECK(conv.window.sizes == Dims{3, 2});
  CHECK(conv.window.strides == Dims{2, 1});
  CHECK(conv.window.baseDilations == Dims{1, 1});
  CHECK(conv.window.windowDilations == Dims{1, 3});
  CHECK(conv.window.padding == std::vector<std::pair<int64_t, int64_t>>{{1, 0}, {0, 2}});
  CHECK(conv.window.reversal == std::vector<bool>{false, false});
  CHECK(conv.featureGroups == 2);
  CHECK(conv.batchGroups == 1);
}

TEST_CASE("a convolution has its precision, however it is spelled") {
  auto precisionOf = [](const std::string& op) {
    return attributesOf<ConvolutionAttributes>(
               "%a: tensor<1x8x8x4xf32>, %b: tensor<3x3x4x16xf32>, %p: tensor<2x2xi32>", op)
        .precision;
  };
  const std::string dims = "dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} ";
  const std::string groups = "batch_group_count = 1 : i64, feature_group_count = 1 : i64";
  const std::string types =
      " : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>";
  const std::string precise =
      "precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGHEST>]";
  const std::vector<std::string> expected = {"HIGH", "HIGHEST"};
  CHECK(precisionOf("%0 = stablehlo.convolution(%a, %b) " + dims + '{' + groups + ", " + precise +
                    '}' + types) == expected);
  CHECK(precisionOf("%0 = stablehlo.convolution(%a, %b) " + dims + '{' + groups + '}' + types)
            .empty());
  const std::string generic =
      "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, " + groups;
  CHECK(precisionOf("%0 = \"stablehlo.convolution\"(%a, %b) <{" + generic + ", " + precise + "}>" +
                    types) == expected);
  CHECK(precisionOf("%0 = \"mhlo.convolution\"(%a, %b) {" + generic +
                    ", precision_config = [#mhlo<precision HIGH>, #mhlo<precision HIGHEST>]}" +
                    types) == expected);
  CHECK(precisionOf("%0 = \"stablehlo.dynamic_conv\"(%a, %b, %p) <{" + generic + ", " + precise +
                    "}> : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>, tensor<2x2xi32>)"
                    " -> tensor<1x6x6x16xf32>") == expected);
}

TEST_CASE("a window that is left out is one, without padding") {
  auto reduction =
      attributesOf<WindowReductionAttributes>("%a: tensor<8x8xf32>, %i: tensor<f32>",
                                              R"(%0 = "stablehlo.reduce_window"(%a, %i) ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %m = stablehlo.maximum %x, %y : tensor<f32>
          stablehlo.return %m : tensor<f32>
        }) {window_dimensions = array<i64: 1, 3>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x6xf32>)");
  CHECK(reduction.window.sizes == Dims{1, 3});
  CHECK(reduction.window.strides == Dims{1, 1});
  CHECK(reduction.window.padding == std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {0, 0}});
}

TEST_CASE("old dense lists read like arrays, splats included") {
  auto reduction =
      attributesOf<WindowReductionAttributes>("%a: tensor<8x8xf32>, %i: tensor<f32>",
                                              R"(%0 = "stablehlo.reduce_window"(%a, %i) ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %m = stablehlo.maximum %x, %y : tensor<f32>
          "stablehlo.return"(%m) : (tensor<f32>) -> ()
        }) {window_dimensions = dense<[2, 3]> : tensor<2xi64>, window_strides = dense<2> : tensor<2xi64>,
            padding = dense<1> : tensor<2x2xi64>}
        : (tensor<8x8xf32>, tensor<f32>) -> tensor<5x4xf32>)");
  CHECK(reduction.window.sizes == Dims{2, 3});
  CHECK(reduction.window.strides == Dims{2, 2});
  CHECK(reduction.window.padding == std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {1, 1}});
  CHECK(attributesOf<DimensionsAttributes>(
            "%a: tensor<2x3xf32>",
            R"(%0 = "stablehlo.transpose"(%a) {permutation = dense<[1, 0]> : tensor<2xi64>}
               : (tensor<2x3xf32>) -> tensor<3x2xf32>)")
            .dims == Dims{1, 0});
}

TEST_CASE("operations with one list of dimensions have it") {
  auto dims = [](const std::string& arguments, const std::string& op) {
    return attributesOf<DimensionsAttributes>(arguments, op).dims;
  };
  CHECK(dims("%a: tensor<2x3xf32>", "%0 = stablehlo.broadcast_in_dim %a, dims = [0, 2]"
                                    " : (tensor<2x3xf32>) -> tensor<2x5x3xf32>") == Dims{0, 2});
  CHECK(dims("%a: tensor<2x3xf32>",
             "%0 = stablehlo.concatenate %a, %a, dim = 1"
             " : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>") == Dims{1});
  CHECK(dims("", "%0 = stablehlo.iota dim = 1 : tensor<2x3xi32>") == Dims{1});
  CHECK(dims("%a: tensor<2x3xf32>", "%0 = stablehlo.reverse %a, dims = [1] : tensor<2x3xf32>") ==
        Dims{1});
  CHECK(dims("%a: tensor<16xcomplex<f32>>",
             "%0 = stablehlo.fft %a, type = FFT, length = [16]"
             " : (tensor<16xcomplex<f32>>) -> tensor<16xcomplex<f32>>") == Dims{16});
}

TEST_CASE("sort sorts along the last dimension unless told otherwise") {
  auto sortDim = [](const std::string& attributes) {
    return attributesOf<DimensionsAttributes>("%a: tensor<2x3xf32>", R"(%0 = "stablehlo.sort"(%a) ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %p = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        }) )" + attributes + " : (tensor<2x3xf32>) -> tensor<2x3xf32>")
        .dims;
  };
  CHECK(sortDim("") == Dims{1});
  CHECK(sortDim("{dimension = -1 : i64}") == Dims{1});
  CHECK(sortDim("{dimension = 0 : i64}") == Dims{0});
}

TEST_CASE("slices and pads have their bounds") {
  auto slice = attributesOf<SliceAttributes>(
      "%a: tensor<8x8xf32>",
      "%0 = stablehlo.slice %a [1:7:2, 0:8] : (tensor<8x8xf32>) -> tensor<3x8xf32>");
  CHECK(slice == SliceAttributes{{1, 0}, {7, 8}, {2, 1}, {}});
  auto dynamic = attributesOf<SliceAttributes>(
      "%a: tensor<8x8xf32>, %i: tensor<i32>",
      "%0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [2, 4]"
      " : (tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>");
  CHECK(dynamic == SliceAttributes{{}, {}, {}, {2, 4}});
  auto pad = attributesOf<PadAttributes>(
      "%a: tensor<4xf32>, %v: tensor<f32>",
      "%0 = stablehlo.pad %a, %v, low = [1], high = [-1], interior = [2]"
      " : (tensor<4xf32>, tensor<f32>) -> tensor<10xf32>");
  CHECK(pad == PadAttributes{{1}, {-1}, {2}});
}

TEST_CASE("gather and scatter have their dimension numbers") {
  auto gather = attributesOf<GatherAttributes>(
      "%a: tensor<10x4xf32>, %i: tensor<5x1xi32>",
      R"(%0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
         collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
         slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>)");
  CHECK(gather == GatherAttributes{{1}, {0}, {}, {}, {0}, {1, 4}, 1});
  OpInfo scatter = firstOp(
      "%a: tensor<10x4xf32>, %i: tensor<5x1xi32>, %u: tensor<5x4xf32>",
      R"(%0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
         update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
         index_vector_dim = 1>}> ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %s = stablehlo.add %x, %y : tensor<f32>
          stablehlo.return %s : tensor<f32>
        }) : (tensor<10x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<10x4xf32>)");
  CHECK(*scatter.get<ScatterAttributes>() == ScatterAttributes{{1}, {0}, {}, {}, {0}, 1});
  CHECK(scatter.nested.size() == 2);
}

TEST_CASE("collectives have groups, dimension, channel and numbering") {
  auto gather = attributesOf<CollectiveAttributes>(
      "%a: tensor<4xf32>",
      R"(%0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64,
         channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>,
         replica_groups = dense<[[0, 1, 2], [3, 4, -1]]> : tensor<2x3xi64>, use_global_device_ids}>
         : (tensor<4xf32>) -> tensor<12xf32>)");
  CHECK(gather == CollectiveAttributes{{{0, 1, 2}, {3, 4, -1}}, 0, 7, true});
  auto permute = attributesOf<CollectiveAttributes>("%a: tensor<4xf32>",
                                                    R"(%0 = "stablehlo.collective_permute"(%a) <{
         source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}>
         : (tensor<4xf32>) -> tensor<4xf32>)");
  CHECK(permute == CollectiveAttributes{{{0, 1}, {1, 0}}, -1, 0, false});
}

TEST_CASE("groups are read from a splat and from hexadecimal alike") {
  auto groups = [](const std::string& value) {
    return attributesOf<CollectiveAttributes>(
               "%a: tensor<4xf32>",
               R"(%0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = )" + value +
                   R"(}> : (tensor<4xf32>) -> tensor<4xf32>)")
        .replicaGroups;
  };
  CHECK(groups("dense<0> : tensor<1x1xi64>") == std::vector<Dims>{{0}});
  CHECK(groups("dense<\"0x00000000000000000100000000000000\"> : tensor<1x2xi64>") ==
        std::vector<Dims>{{0, 1}});
}

TEST_CASE("a custom call has its target, side effect and configuration") {
  auto call = attributesOf<CustomCallAttributes>(
      "%a: tensor<4xf32>",
      "%0 = stablehlo.custom_call @foo(%a) {has_side_effect = true, backend_config = \"cfg\"}"
      " : (tensor<4xf32>) -> tensor<4xf32>");
  CHECK(call == CustomCallAttributes{"foo", true, "cfg"});
  auto typed = attributesOf<CustomCallAttributes>(
      "%a: tensor<4xf32>",
      "%0 = stablehlo.custom_call @foo(%a) {api_version = 4 : i32, backend_config = {k = 1 : i64}}"
      " : (tensor<4xf32>) -> tensor<4xf32>");
  CHECK(typed == CustomCallAttributes{"foo", false, "{k = 1 : i64}"});
  std::string large(10000, 'x');
  CHECK(attributesOf<CustomCallAttributes>(
            "%a: tensor<4xf32>", "%0 = stablehlo.custom_call @foo(%a) {backend_config = \"" +
                                     large + "\"} : (tensor<4xf32>) -> tensor<4xf32>")
            .backendConfig.size() == 4096);
}

TEST_CASE("compare has its direction and, where given, its type") {
  auto compare = attributesOf<CompareAttributes>(
      "%a: tensor<4xf32>",
      "%0 = stablehlo.compare LT, %a, %a, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>");
  CHECK(compare == CompareAttributes{"LT", "FLOAT"});
  auto plain = attributesOf<CompareAttributes>(
      "%a: tensor<4xf32>",
      "%0 = stablehlo.compare NE, %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>");
  CHECK(plain.direction == "NE");
}

TEST_CASE("a splat that stands for more numbers than there is memory is not expanded") {
  // Whether the verifier or the reader refuses it does not matter.
  failureOf(R"(func.func @main(%a: tensor<4xf32>) {
    %0 = "acme.op"(%a) {replica_groups = dense<0> : tensor<1000000x1000000xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    return
  })");
}
