// Printing and reading again, as text, as generic text and as bytecode.

#include "tests/compiler/dialect/dialect_fixture.h"

#include <doctest/doctest.h>

using nocturne::test::DialectFixture;

TEST_CASE("every attribute survives text and bytecode") {
  DialectFixture fixture;
  for (const std::string attribute :
       {"#stablehlo<precision HIGHEST>",
        "#stablehlo<comparison_direction LT>",
        "#stablehlo<comparison_type TOTALORDER>",
        "#stablehlo<fft_type IRFFT>",
        "#stablehlo<transpose ADJOINT>",
        "#stablehlo<rng_distribution NORMAL>",
        "#stablehlo<rng_algorithm THREE_FRY>",
        "#stablehlo<custom_call_api_version API_VERSION_TYPED_FFI>",
        "#stablehlo.result_accuracy_mode<HIGHEST>",
        "#stablehlo.result_accuracy<atol = 1.0e-3, ulps = 10,"
        " mode = #stablehlo.result_accuracy_mode<TOLERANCE>>",
        "#stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1],"
        " lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>",
        "#stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16,"
        " accumulation_type = f32, lhs_component_count = 3, rhs_component_count = 3,"
        " num_primitive_operations = 6, allow_imprecise_accumulation = true>",
        "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],"
        " operand_batching_dims = [2], start_indices_batching_dims = [0], start_index_map = [0],"
        " index_vector_dim = 1>",
        "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],"
        " scatter_dims_to_operand_dims = [0], index_vector_dim = 1>",
        "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>",
        "#stablehlo.channel_handle<handle = 1, type = 2>",
        "#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 1,"
        " operand_tuple_indices = []>",
        "#stablehlo.bounds<4, ?>",
        "#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [\"a\"]>",
        "#stablehlo.of_tomorrow<4, [x]>"}) {
    CAPTURE(attribute);
    const bool survives =
        fixture.survivesRoundTrip("module attributes {test.a = " + attribute + "} {}");
    CAPTURE(fixture.error());
    CHECK(survives);
  }
}

TEST_CASE("dimension numbers in raw form are those in letters") {
  DialectFixture fixture;
  auto raw =
      fixture.parse("module attributes {test.a = #stablehlo.conv<raw input_batch_dimension = 0,"
                    " input_feature_dimension = 1, input_spatial_dimensions = [2],"
                    " kernel_output_feature_dimension = 0, kernel_input_feature_dimension = 1,"
                    " kernel_spatial_dimensions = [2], output_batch_dimension = 0,"
                    " output_feature_dimension = 1, output_spatial_dimensions = [2]>} {}");
  auto letters = fixture.parse(
      "module attributes {test.a = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>} {}");
  REQUIRE(raw);
  REQUIRE(letters);
  CHECK((*raw)->getAttr("test.a") == (*letters)->getAttr("test.a"));
}

TEST_CASE("every printed form is read back as the same operation") {
  DialectFixture fixture;
  for (const std::string body : {
           "%0 = stablehlo.exponential %a {result_accuracy = #stablehlo.result_accuracy<ulps = 1,"
           " mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4x4xf32>",
           "%0 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<4x4xf32>, tensor<4x4xf32>) -> "
           "tensor<4x4xi1>\n%1 = stablehlo.select %0, %a, %b : tensor<4x4xi1>, tensor<4x4xf32>",
           "%0 = stablehlo.complex %a, %b : tensor<4x4xcomplex<f32>>\n"
           "%1 = stablehlo.real %0 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>\n"
           "%2 = stablehlo.fft %0, type = FFT, length = [4] : (tensor<4x4xcomplex<f32>>) -> "
           "tensor<4x4xcomplex<f32>>",
           "%0 = stablehlo.constant {note = 1 : i64} dense<0> : tensor<4xi32>",
           "%0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> "
           "tensor<4x8xf32>",
           "%0 = stablehlo.slice %a [0:4:2, 1:3] : (tensor<4x4xf32>) -> tensor<2x2xf32>",
           "%0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 2] : (tensor<4x4xf32>, "
           "tensor<i32>, tensor<i32>) -> tensor<1x2xf32>",
           "%0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x "
           "[1], precision = [DEFAULT, HIGH] {note} : (tensor<4x4xf32>, tensor<4x4xf32>) -> "
           "tensor<4xf32>",
           "%0 = stablehlo.einsum %a, %b, config = \"ij,jk->ik\" : (tensor<4x4xf32>, "
           "tensor<4x4xf32>) -> tensor<4x4xf32>",
           "%0 = stablehlo.einsum %a, %b, config = \"ij,jk->ik\" {precision_config = "
           "[#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<4x4xf32>, "
           "tensor<4x4xf32>) -> tensor<4x4xf32>",
           "%0 = stablehlo.cholesky %a, lower = true : tensor<4x4xf32>",
           "%0 = stablehlo.reduce_precision %a, format = e5m10 : tensor<4x4xf32>",
           "%0 = stablehlo.composite \"a.b\" %a {decomposition = @f} : (tensor<4x4xf32>) -> "
           "tensor<4x4xf32>",
           "%0:2 = stablehlo.custom_call @\"a$b\"(%a) {api_version = 2 : i32} : (tensor<4x4xf32>) "
           "-> (tensor<4x4xf32>, tensor<i32>)",
           "%0:2 = stablehlo.optimization_barrier %a, %i : tensor<4x4xf32>, tensor<i32>",
           "%0 = stablehlo.tuple %a, %i : tuple<tensor<4x4xf32>, tensor<i32>>\n"
           "%1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4x4xf32>, tensor<i32>>) -> "
           "tensor<i32>",
           "%0 = stablehlo.while(%x = %i) : tensor<i32> cond {\n"
           "%c = stablehlo.compare LT, %x, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
           "stablehlo.return %c : tensor<i1> } do { stablehlo.return %x : tensor<i32> }",
           "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
           "%0 = stablehlo.reduce(%a init: %z) across dimensions = [0] : (tensor<4x4xf32>, "
           "tensor<f32>) -> tensor<4xf32> reducer(%l: tensor<f32>, %r: tensor<f32>) {\n"
           "%1 = stablehlo.add %r, %l : tensor<f32>\nstablehlo.return %1 : tensor<f32> }",
           "%0 = stablehlo.partition_id : tensor<ui32>",
           "%0 = stablehlo.create_token : !stablehlo.token\n"
           "%1 = stablehlo.after_all %0, %0 : !stablehlo.token",
       }) {
    CAPTURE(body);
    const bool survives = fixture.survivesRoundTrip(
        (llvm::Twine(
             "func.func @f(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %i: tensor<i32>) {\n") +
         body + "\nreturn }")
            .str());
    CAPTURE(fixture.error());
    CHECK(survives);
  }
}
