#include "ops.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {

OpAttributes contract(Dims left, Dims right, Dims batch = {},
                      std::vector<std::string> precision = {}) {
  return DotAttributes{
      batch, batch, std::move(left), std::move(right), std::move(precision), ElementKind::None};
}

OpInfo square(const std::string& left, const std::string& right, const std::string& out,
              std::vector<std::string> precision = {}) {
  return op("stablehlo.dot_general", "256x256x" + left + " 256x256x" + right, "256x256x" + out,
            contract({1}, {0}, {}, std::move(precision)));
}

// Rates that tell the types apart, and memory so fast that only they matter.
Json typedMachine() {
  return {{"peak_flops", 1e12},
          {"memory_bandwidth", 1e30},
          {"per_datatype_flops",
           {{"f32", 1e12},
            {"tf32", 2e12},
            {"bf16", 4e12},
            {"f16", 4e12},
            {"i32", 1e12},
            {"i8", 8e12},
            {"f8E4M3FN", 8e12}}}};
}

double rateOf(const OpInfo& info, const Json& options = Json::object()) {
  EstimatorResult result = make("roofline", typedMachine(), options)->getEstimate(moduleOf({info}));
  return result.flops / *result.runtime;
}

} // namespace

TEST_CASE("a matrix product takes two operations per multiply-add") {
  OpInfo dot =
      op("stablehlo.dot_general", "64x512xbf16 512x64xbf16", "64x64xbf16", contract({1}, {0}));
  CHECK(flopsOf(dot) == 2.0 * 64 * 64 * 512);
  CHECK(bytesOf(dot) == 2.0 * (64 * 512 + 512 * 64 + 64 * 64));
  CHECK(flopsOf(op("stablehlo.dot_general", "2x16x8x4xf32 2x16x4x8xf32", "2x16x8x8xf32",
                   contract({3}, {2}, {0, 1}))) == 2.0 * 2 * 16 * 8 * 8 * 4);
  CHECK(flopsOf(op("stablehlo.dot_general", "64x32xf32 64x32xf32", "f32",
                   contract({0, 1}, {0, 1}))) == 4096);
  CHECK(flopsOf(op("stablehlo.dot", "4x8xf32 8x2xf32", "4x2xf32", contract({1}, {0}))) == 128);
  CHECK(flopsOf(op("stablehlo.dot_general", "4x8xcomplex<f32> 8x2xcomplex<f32>", "4x2xcomplex<f32>",
                   contract({1}, {0}))) == 8.0 * 64);
}

TEST_CASE("the operands' type sets the rate, not the result's") {
  CHECK(rateOf(square("bf16", "bf16", "f32")) == doctest::Approx(4e12));
  CHECK(rateOf(square("i8", "i8", "i32")) == doctest::Approx(8e12));
  CHECK(rateOf(square("ui8", "ui8", "i32")) == doctest::Approx(8e12));
  CHECK(rateOf(square("f8E5M2", "f8E4M3FN", "f32")) == doctest::Approx(8e12));
  CHECK(rateOf(square("bf16", "i8", "bf16")) == doctest::Approx(4e12)); // the wider
}

TEST_CASE("f32 contractions use tf32 where the machine has it, unless they ask for more") {
  CHECK(rateOf(square("f32", "f32", "f32")) == doctest::Approx(2e12));
  CHECK(rateOf(square("f32", "f32", "f32", {"DEFAULT", "DEFAULT"})) == doctest::Approx(2e12));
  CHECK(rateOf(square("f32", "f32", "f32", {"HIGHEST", "HIGHEST"})) == doctest::Approx(1e12));
  CHECK(rateOf(square("f32", "f32", "f32"), {{"tf32", false}}) == doctest::Approx(1e12));
  CHECK(rateOf(op("stablehlo.dot", "256x256xf32 256x256xf32", "256x256xf32", contract({1}, {0}))) ==
        doctest::Approx(2e12));
  CHECK(rateOf(op("stablehlo.add", "256xf32 256xf32", "256xf32")) == doctest::Approx(1e12));
}

TEST_CASE("a type that the table lacks uses the peak and is reported") {
  auto estimator = make("roofline", typedMachine());
  EstimatorResult result = estimator->getEstimate(moduleOf({square("f64", "f64", "f64")}));
  CHECK(result.flops / *result.runtime == doctest::Approx(1e12));
  CHECK(result.assumedRates == std::vector<ElementKind>{ElementKind::F64});
  auto strict = make("roofline", typedMachine(), {{"error_on_unknown_type", true}});
  CHECK_THROWS_WITH_AS(strict->getEstimate(moduleOf({square("f64", "f64", "f64")})),
                       doctest::Contains("no rate for f64"), ItemError);
  // A machine without a table has nothing to assume.
  CHECK(cost(square("f64", "f64", "f64")).assumedRates.empty());
}

TEST_CASE("ragged products: each row meets one group") {
  CHECK(flopsOf(op("mhlo.ragged_dot", "2048x512xbf16 8x512x1024xbf16 8xi32", "2048x1024xbf16")) ==
        2.0 * 2048 * 512 * 1024);
  CHECK(flopsOf(op("chlo.ragged_dot", "2048x512xbf16 512x1024xbf16 8xi32", "8x2048x1024xbf16")) ==
        2.0 * 2048 * 512 * 1024);
  CHECK(flopsOf(op("mhlo.ragged_dot", "4x16x8xbf16 4x8x2xbf16 4xi32", "4x16x2xbf16")) ==
        2.0 * 4 * 16 * 8 * 2);
}

TEST_CASE("products without dimension numbers find the shared extent from the sizes") {
  CHECK(flopsOf(op("stablehlo.einsum", "4x8xf32 8x2xf32", "4x2xf32")) == 128);
  OpInfo gemm = customCall("__cublas$gemm", "3x4x8xf32 3x8x2xf32", "3x4x2xf32 1000xi8");
  CHECK(flopsOf(gemm) == 2.0 * 3 * 4 * 8 * 2);
  CHECK(bytesOf(gemm) == 4.0 * (96 + 48 + 24)); // the scratch memory does not count
}

TEST_CASE("a fusion is rated by what is inside, at the rate of each") {
  std::vector<OpInfo> body = {square("bf16", "bf16", "f32"),
                              op("stablehlo.add", "256x256xf32 256x256xf32", "256x256xf32")};
  OpInfo fusion = op("mhlo.fusion", "256x256xbf16 256x256xbf16 256xf32", "256x256xf32", {}, body);
  double product = 2.0 * 256 * 256 * 256, sum = 256.0 * 256;
  CHECK(flopsOf(fusion) == product + sum);
  CHECK(bytesOf(fusion) == 2.0 * 2 * 65536 + 1024 + 4 * 65536);
  EstimatorResult result = make("roofline", typedMachine())->getEstimate(moduleOf({fusion}));
  CHECK(*result.runtime == doctest::Approx(product / 4e12 + sum / 1e12).epsilon(1e-12));
}
