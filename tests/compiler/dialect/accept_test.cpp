// Spellings that released versions of the text used, each with what it stores.

#include "compiler/dialect/StablehloOps.h"
#include "tests/compiler/dialect/dialect_fixture.h"

#include <doctest/doctest.h>

using namespace nocturne;
using nocturne::test::DialectFixture;

namespace {

template <typename Op>
Op find(mlir::OwningOpRef<mlir::ModuleOp>& module) {
  Op found;
  if (module)
    module->walk([&](Op op) { found = op; });
  return found;
}

using Numbers = llvm::SmallVector<int64_t>;

} // namespace

TEST_CASE("an index list is read from an array and from a dense value") {
  DialectFixture fixture;
  for (const std::string list : {"array<i64: 1, 0>", "dense<[1, 0]> : tensor<2xi64>"}) {
    CAPTURE(list);
    auto module = fixture.parseBody("%0 = \"stablehlo.transpose\"(%a) <{permutation = " + list +
                                    "}> : (tensor<4x4xf32>) -> tensor<4x4xf32>");
    CAPTURE(fixture.error());
    auto op = find<stablehlo::TransposeOp>(module);
    REQUIRE(op);
    CHECK(stablehlo::readI64List(op.getPermutation()) == Numbers{1, 0});
  }
}

TEST_CASE("an inherent attribute may stand in either of the two dictionaries") {
  DialectFixture fixture;
  for (const std::string text : {"<{iota_dimension = 1 : i64}>", "{iota_dimension = 1 : i64}"}) {
    CAPTURE(text);
    auto module =
        fixture.parseBody("%0 = \"stablehlo.iota\"() " + text + " : () -> tensor<4x4xi32>");
    auto op = find<stablehlo::IotaOp>(module);
    REQUIRE(op);
    CHECK(op.getIotaDimension() == 1);
  }
}

TEST_CASE("dot_general stores the dimensions of its printed form as one attribute") {
  DialectFixture fixture;
  auto module = fixture.parse(R"(func.func @f(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
    %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1],
      precision = [DEFAULT, HIGHEST],
      algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32,
                   lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3,
                   allow_imprecise_accumulation = false>
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    return })");
  CAPTURE(fixture.error());
  auto op = find<stablehlo::DotGeneralOp>(module);
  REQUIRE(op);
  CHECK(op.getDotDimensionNumbers().getLhsBatchingDimensions() == llvm::ArrayRef<int64_t>{0});
  CHECK(op.getDotDimensionNumbers().getLhsContractingDimensions() == llvm::ArrayRef<int64_t>{2});
  CHECK(op.getDotDimensionNumbers().getRhsContractingDimensions() == llvm::ArrayRef<int64_t>{1});
  CHECK(op.getPrecisionConfig()->size() == 2);
  CHECK(op.getAlgorithm()->getNumPrimitiveOperations() == 3);
}

TEST_CASE("a convolution's letters become dimension numbers and its window attributes") {
  DialectFixture fixture;
  auto module = fixture.parse(R"(func.func @f(%x: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x16xf32>) {
    %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, f, 0, 1],
      window = {stride = [2, 2], pad = [[1, 1], [0, 1]], rhs_dilate = [1, 1], reverse = [0, false]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<1x16x4x4xf32>
    return })");
  CAPTURE(fixture.error());
  auto op = find<stablehlo::ConvolutionOp>(module);
  REQUIRE(op);
  CHECK(op.getDimensionNumbers().getInputFeatureDimension() == 3);
  CHECK(op.getDimensionNumbers().getKernelOutputFeatureDimension() == 3);
  CHECK(op.getDimensionNumbers().getOutputSpatialDimensions() == llvm::ArrayRef<int64_t>{2, 3});
  CHECK(stablehlo::readI64List(op.getWindowStridesAttr()) == Numbers{2, 2});
  CHECK(stablehlo::readI64List(op.getPaddingAttr()) == Numbers{1, 1, 0, 1});
  CHECK(stablehlo::readBoolList(op.getWindowReversalAttr()) ==
        llvm::SmallVector<bool>{false, false});
  CHECK_FALSE(op.getLhsDilation().has_value());
}

TEST_CASE("a reducer that is only named becomes a region with that operation") {
  DialectFixture fixture;
  auto module = fixture.parseBody(R"(%z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>)");
  auto reduce = find<stablehlo::ReduceOp>(module);
  auto add = find<stablehlo::AddOp>(module);
  REQUIRE(reduce);
  REQUIRE(add);
  CHECK(add->getParentOp() == reduce.getOperation());
  CHECK(stablehlo::readI64List(reduce.getDimensions()) == Numbers{0, 1});
}

TEST_CASE("reduce pairs the arguments of a reducer over several inputs") {
  DialectFixture fixture;
  auto module = fixture.parseBody(R"(%z = stablehlo.constant dense<0.0> : tensor<f32>
    %0:2 = stablehlo.reduce(%a init: %z), (%b init: %z) across dimensions = [0]
      : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<f32>)
      -> (tensor<4xf32>, tensor<4xf32>)
     reducer(%l: tensor<f32>, %r: tensor<f32>) (%m: tensor<f32>, %s: tensor<f32>) {
      %1 = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %1, %m : tensor<f32>, tensor<f32>
    })");
  CAPTURE(fixture.error());
  auto reduce = find<stablehlo::ReduceOp>(module);
  auto add = find<stablehlo::AddOp>(module);
  REQUIRE(reduce);
  // Arguments of the region: all left ones, then all right ones.
  CHECK(add.getLhs() == reduce.getBody().getArgument(0));
  CHECK(add.getRhs() == reduce.getBody().getArgument(2));
}

TEST_CASE("while reads its arguments, types and attributes") {
  DialectFixture fixture;
  auto module = fixture.parseBody(R"(%0:2 = stablehlo.while(%x = %i, %y = %a)
      : tensor<i32>, tensor<4x4xf32> attributes {note = "n"}
     cond { %c = stablehlo.compare LT, %x, %x, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1> }
     do { stablehlo.return %x, %y : tensor<i32>, tensor<4x4xf32> })");
  CAPTURE(fixture.error());
  auto op = find<stablehlo::WhileOp>(module);
  REQUIRE(op);
  CHECK(op.getNumResults() == 2);
  CHECK(op->hasAttr("note"));
}

TEST_CASE("a while without operands is read") {
  DialectFixture fixture;
  CHECK(fixture.parseBody(R"(stablehlo.while() cond {
      %c = stablehlo.constant dense<false> : tensor<i1>
      stablehlo.return %c : tensor<i1> } do { stablehlo.return })"));
}

TEST_CASE("types that are dynamic, unranked, bounded, quantized or tokens pass the verifiers") {
  DialectFixture fixture;
  for (const std::string text :
       {"func.func @f(%a: tensor<?x4xf32>, %b: tensor<2x?xf32>) {"
        " %0 = stablehlo.add %a, %b : (tensor<?x4xf32>, tensor<2x?xf32>) -> tensor<2x4xf32> return "
        "}",
        "func.func @f(%a: tensor<*xf32>) { %0 = stablehlo.sine %a : tensor<*xf32> return }",
        "func.func @f(%a: tensor<?x4xf32, #stablehlo.bounds<8, ?>>) {"
        " %0 = stablehlo.negate %a : tensor<?x4xf32, #stablehlo.bounds<8, ?>> return }",
        "func.func @f(%a: tensor<?xf32, #stablehlo.type_extensions<bounds = [8]>>) { return }",
        "func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 2.0:1>>) {"
        " %0 = stablehlo.add %a, %a : (tensor<2x!quant.uniform<i8:f32, 2.0:1>>,"
        " tensor<2x!quant.uniform<i8:f32, 2.0:1>>) -> tensor<2x!quant.uniform<i8:f32, 4.0:1>>"
        " return }",
        "func.func @f(%a: !stablehlo.token) {"
        " %0 = stablehlo.after_all %a, %a : !stablehlo.token return }",
        "func.func @f(%a: tensor<f8E4M3FN>, %b: !stablehlo.future<tensor<f32>>) { return }"}) {
    CAPTURE(text);
    auto module = fixture.parse(text);
    CAPTURE(fixture.error());
    CHECK(module);
  }
}

TEST_CASE("an operation that is not modelled keeps its name and operands") {
  DialectFixture fixture;
  auto generic = fixture.parseBody(
      "%0 = \"stablehlo.of_tomorrow\"(%a) {k = 1 : i64} : (tensor<4x4xf32>) -> tensor<4xf32>");
  CHECK(generic);
  auto pretty = fixture.parseBody(
      "%0 = stablehlo.of_tomorrow %a, axis = 1 {k = 2 : i64} : (tensor<4x4xf32>) -> tensor<4xf32>");
  CAPTURE(fixture.error());
  REQUIRE(pretty);
  CHECK(DialectFixture::print(*pretty).find("\"stablehlo.of_tomorrow\"(%arg0)") !=
        std::string::npos);
  CHECK(fixture.parse("module attributes {test.a = #stablehlo.of_tomorrow<[1, x]>} {}"));
  CHECK(fixture.parse("func.func private @f(!stablehlo.of_tomorrow<4>)"));
}
