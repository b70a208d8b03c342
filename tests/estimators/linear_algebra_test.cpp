#include "estimators/rules.h"
#include "ops.h"

using namespace nocturne;
using namespace nocturne::test;

TEST_CASE("logarithms are rounded up, roots of square numbers are exact") {
  CHECK(ceilLog2(1) == 0);
  CHECK(ceilLog2(2) == 1);
  CHECK(ceilLog2(1000) == 10);
  CHECK(ceilLog2(1024) == 10);
  CHECK(ceilLog2(1025) == 11);
  CHECK(wholeRoot(49) == 7);
  CHECK(wholeRoot(0) == 0);
}

TEST_CASE("a factorisation takes its textbook count of operations, whatever library it is in") {
  CHECK(flopsOf(op("stablehlo.cholesky", "2x30x30xf32", "2x30x30xf32")) == 2 * 9000);
  CHECK(flopsOf(op("stablehlo.cholesky", "30x30xcomplex<f32>", "30x30xcomplex<f32>")) == 36000);
  CHECK(flopsOf(op("stablehlo.triangular_solve", "10x10xf32 10x3xf32", "10x3xf32")) == 300);
  auto flops = [](const char* target, const char* matrix) {
    return flopsOf(customCall(target, matrix, matrix));
  };
  CHECK(flops("lapack_dpotrf_ffi", "30x30xf64") == 9000);
  CHECK(flops("cusolver_potrf_ffi", "30x30xf32") == 9000);
  CHECK(flops("lapack_dgetrf_ffi", "30x30xf64") == 18000);        // 2/3 n^3
  CHECK(flops("cusolver_getrf_ffi", "2x60x30xf32") == 2 * 45000); // m n^2 - n^3/3
  CHECK(flops("cublas_getrf_batched_ffi", "30x30xf32") == 18000);
  CHECK(flops("LuDecomposition", "30x30xf32") == 18000);
  CHECK(flops("cusolver_geqrf_ffi", "60x30xf32") == 2 * 54000 - 18000); // 2 m n^2 - 2/3 n^3
  CHECK(flops("Qr", "30x60xf32") == 2 * 54000 - 18000);
  CHECK(flops("cusolver_orgqr_ffi", "30x30xf32") == 36000);
  CHECK(flops("ProductOfElementaryHouseholderReflectors", "30x30xf32") == 36000);
  CHECK(flops("cusolver_sytrd_ffi", "30x30xf32") == 36000);
  CHECK(flops("hipsolver_syevd_ffi", "10x10xf32") == 9000);
  CHECK(flops("cusolver_syevj", "10x10xf32") == 9000);
  CHECK(flops("Eigh", "10x10xf32") == 9000);
  CHECK(flops("lapack_sgesdd_ffi", "10x10xf32") == 21000);
  CHECK(flops("lapack_zgeev_ffi", "10x10xcomplex<f64>") == 100000);
  CHECK(flops("CompactWyHelper", "10x10xf32") == 1000);
  CHECK(flops("cu_lu_pivots_to_permutation", "10xi32") == 0);
}

TEST_CASE("Fourier transforms: 5 N log2 N, half for real ones") {
  auto fft = [](const char* in, const char* out, Dims length) {
    return flopsOf(op("stablehlo.fft", in, out, DimensionsAttributes{std::move(length)}));
  };
  CHECK(fft("3x1024xcomplex<f32>", "3x1024xcomplex<f32>", {1024}) == 3.0 * 5 * 1024 * 10);
  CHECK(fft("1024xf32", "513xcomplex<f32>", {1024}) == 2.5 * 1024 * 10);
  CHECK(fft("513xcomplex<f32>", "1024xf32", {1024}) == 2.5 * 1024 * 10);
  CHECK(fft("32x32xcomplex<f32>", "32x32xcomplex<f32>", {32, 32}) == 5.0 * 1024 * 10);
}

TEST_CASE("random bits: 57.5 operations for each 32-bit word") {
  CHECK(flopsOf(op("stablehlo.rng_bit_generator", "2xui64", "2xui64 100xui32")) == 5750);
  CHECK(flopsOf(op("stablehlo.rng_bit_generator", "2xui64", "2xui64 100xui64")) == 11500);
  CHECK(flopsOf(customCall("cu_threefry2x32_ffi", "ui32 ui32 50xui32 50xui32",
                           "50xui32 50xui32")) == 57.5 * 50);
}

TEST_CASE("opaque custom calls are not covered") {
  for (const char* target :
       {"foo", "tpu_custom_call", "mosaic_gpu_v2", "__gpu$xla.gpu.triton",
        "xla_python_cpu_callback", "", "stablehlo.dynamic_nonsense", "lapack_unheard_of"}) {
    CAPTURE(target);
    CHECK_FALSE(static_cast<bool>(findTargetRule(target)));
    OpInfo call = customCall(target, "4xf32", "4xf32");
    std::string quoted = '"' + std::string(target) + '"';
    CHECK_THROWS_WITH_AS(cost(call, {{"unknown_custom_call", "error"}}),
                         doctest::Contains(quoted.c_str()), ItemError);
    EstimatorResult skipped = cost(call, {{"unknown_custom_call", "skip"}});
    CHECK(skipped.runtime == 0);
    CHECK(skipped.coverage() == 0);
    CHECK(skipped.uncovered == std::vector<Uncovered>{{"custom_call:" + std::string(target), 1}});
    CHECK(cost(call).bytes == 32);
    CHECK(cost(call).coverage() == 0);
  }
}

TEST_CASE("custom calls that stand for an operation are covered") {
  CHECK(flopsOf(customCall("mhlo.erf", "100xf32", "100xf32")) == 100);
  CHECK(static_cast<bool>(findTargetRule("stablehlo.dynamic_reduce_window")));
  CHECK(static_cast<bool>(findTargetRule("stablehlo.dynamic_rng_bit_generator")));
  for (const char* target :
       {"SPMDFullToShardShape", "SPMDShardToFullShape", "MoveToHost", "MoveToDevice",
        "annotate_device_placement", "shape_assertion", "AllocateBuffer", "InspectSharding",
        "xla.megascale.provide_metadata", "check.eq", "X64Combine"})
    CHECK(static_cast<bool>(findTargetRule(target)));
}
