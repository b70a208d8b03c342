// Dialects of which only the name is known.

#include "compiler/dialect/StablehloOps.h"
#include "tests/compiler/dialect/dialect_fixture.h"

#include <doctest/doctest.h>

using namespace nocturne;
using nocturne::test::DialectFixture;

TEST_CASE("MHLO in custom form is read as StableHLO") {
  DialectFixture fixture;
  auto module = fixture.parseBody(R"(%0 = mhlo.add %a, %b : tensor<4x4xf32>
    %z = mhlo.constant dense<0.0> : tensor<f32>
    %1 = mhlo.reduce(%0 init: %z) applies mhlo.maximum across dimensions = [0]
      : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>)");
  CAPTURE(fixture.error());
  REQUIRE(module);
  const std::string text = DialectFixture::print(*module);
  CHECK(text.find("stablehlo.add %arg0, %arg1") != std::string::npos);
  CHECK(text.find("applies stablehlo.maximum") != std::string::npos);
}

TEST_CASE("MHLO in generic form keeps its name, with StableHLO's attributes") {
  DialectFixture fixture;
  for (const char* direction :
       {"#mhlo<comparison_direction LT>", "#mhlo<\"comparison_direction LT\">"}) {
    auto module =
        fixture.parseBody(std::string("%0 = \"mhlo.compare\"(%a, %b) {comparison_direction = ") +
                          direction + "} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xi1>");
    REQUIRE(module);
    bool found = false;
    module->walk([&](mlir::Operation* op) {
      if (op->getName().getStringRef() != "mhlo.compare")
        return;
      auto attr = op->getAttrOfType<stablehlo::ComparisonDirectionAttr>("comparison_direction");
      found = attr && attr.getValue() == stablehlo::ComparisonDirection::LT;
    });
    CHECK(found);
  }
}

TEST_CASE("an MHLO operation without a counterpart is kept by name") {
  DialectFixture fixture;
  auto module = fixture.parseBody("%0 = mhlo.copy %a : tensor<4x4xf32>");
  REQUIRE(module);
  CHECK(DialectFixture::print(*module).find("\"mhlo.copy\"") != std::string::npos);
}

TEST_CASE("Shardy's operations are read in custom form and survive a round trip") {
  DialectFixture fixture;
  const bool survives = fixture.survivesRoundTrip(R"(
    sdy.mesh @mesh = <["x"=2, "y"=4], device_ids=[0, 1, 2, 3, 4, 5, 6, 7]>
    func.func @f(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {}]>})
        -> tensor<8x8xf32> {
      %0 = sdy.sharding_constraint %a <@mesh, [{"x":(1)2}, {?}], replicated={"y"}>
        : tensor<8x8xf32>
      %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
      %2 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
      %3 = sdy.collective_permute %2 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
      %4 = sdy.constant {note = 1 : i64} dense<1.0> : tensor<8x8xf32>
      %5 = sdy.propagation_barrier %3 allowed_direction=BACKWARD : tensor<8x8xf32>
      %6 = sdy.manual_computation(%5, %4) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>]
        out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"}
        (%b: tensor<4x8xf32>, %c: tensor<8x8xf32>) {
          %7 = stablehlo.negate %b : tensor<4x8xf32>
          sdy.return %7 : tensor<4x8xf32>
        } : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %8 = sdy.named_computation<"foo">(%6) (%b: tensor<8x8xf32>) {
          sdy.return %b : tensor<8x8xf32>
        } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      return %8 : tensor<8x8xf32>
    })");
  CAPTURE(fixture.error());
  CHECK(survives);
}

TEST_CASE("CHLO's and MPMD's operations are read in custom form") {
  DialectFixture fixture;
  const bool survives = fixture.survivesRoundTrip(R"(func.func @f(%a: tensor<4x4xf32>) {
    %0 = chlo.erf %a : tensor<4x4xf32> -> tensor<4x4xf32>
    %values, %indices = chlo.top_k(%0, k = 2) : tensor<4x4xf32>
      -> (tensor<4x2xf32>, tensor<4x2xi32>)
    %1 = chlo.next_after %0, %a : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %2 = mpmd.fragment<mesh="m", origin=["f"(0)], stage=1> (%1) {n = 1 : ui32}
      (%b: tensor<4x4xf32>) {
      mpmd.return %b : tensor<4x4xf32>
    } : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return })");
  CAPTURE(fixture.error());
  CHECK(survives);
}

TEST_CASE("attributes of foreign dialects never stop the reader") {
  DialectFixture fixture;
  const bool survives = fixture.survivesRoundTrip(R"(module attributes {
    mhlo.num_partitions = 1 : i32, test.a = #mhlo.unheard_of<[1], {x = "y"}>,
    test.b = #nobody<whatever 3>, test.c = #sdy.sharding_per_value<[<@m, [{"a"}]>]>} {
    func.func private @f(!mhlo.unheard_of<4>, !nobody.thing<"x">)
  })");
  CAPTURE(fixture.error());
  CHECK(survives);
}

TEST_CASE("an operation whose types cannot be found out is refused by name") {
  DialectFixture fixture;
  CHECK_FALSE(fixture.parseBody("%0 = tfl.strange %a"));
  CHECK(fixture.error().find("'tfl.strange'") != std::string::npos);
}
