#include "compiler/cuda/cuda_module.h"

#include <algorithm>
#include <array>

#include <doctest/doctest.h>

#include "tests/compiler/cuda/compile_cuda.h"

namespace nocturne::compiler {

namespace {

using Sizes = std::array<uint32_t, 3>;

} // namespace

TEST_CASE("PTX is for the device that was asked for") {
  const CudaCode code = compiledForCuda(kAdd1000);
  CHECK(contains(code.ptx, ".version 7.8"));
  CHECK(contains(code.ptx, ".target sm_90"));
  CHECK(contains(code.ptx, ".visible .entry nocturne_main_0("));
  CudaOptions options;
  options.target = cudaTarget("sm_75", "+ptx70");
  const std::string older = compiledForCuda(kAdd1000, options).ptx;
  CHECK(contains(older, ".version 7.0"));
  CHECK(contains(older, ".target sm_75"));
}

TEST_CASE("the same module gives the same bytes") {
  CHECK(compiledForCuda(kAdd1000).object == compiledForCuda(kAdd1000).object);
}

TEST_CASE("an elementwise operation has a thread for every element") {
  const CudaCode code = compiledForCuda(kAdd1000);
  CHECK(code.plan.kernels == std::vector<std::string>{"nocturne_main_0"});
  REQUIRE(code.plan.entries.size() == 1);
  const EntryPlan& entry = code.plan.entries[0];
  REQUIRE(entry.steps.size() == 1);
  // 1000 threads are three blocks of 256 and one that is not full, which has to check.
  CHECK(entry.steps[0].grid == Sizes{4, 1, 1});
  CHECK(entry.steps[0].block == Sizes{256, 1, 1});
  CHECK(contains(code.ptx, "setp."));
  // 4000 bytes are 4096 with the next buffer's alignment.
  REQUIRE(entry.arguments.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(entry.arguments[i].offset == 4096 * i);
    CHECK(entry.arguments[i].bytes == 4000);
    CHECK(entry.arguments[i].result == (i == 2));
    CHECK(entry.steps[0].operands[i].offset == 4096 * i);
  }
  CHECK(entry.workBytes == 3 * 4096);
}

TEST_CASE("a row's sum is made by one thread") {
  const CudaCode code = compiledForCuda(R"(
func.func @main(%a: tensor<300x64xf32>) -> tensor<300xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%a init: %0) applies stablehlo.add across dimensions = [1]
    : (tensor<300x64xf32>, tensor<f32>) -> tensor<300xf32>
  return %1 : tensor<300xf32>
})");
  // One kernel sets the sums to zero and one adds: 300 threads are two blocks.
  const EntryPlan& entry = code.plan.entries[0];
  REQUIRE(entry.steps.size() == 2);
  for (const PlanStep& step : entry.steps) {
    CHECK(step.grid == Sizes{2, 1, 1});
    CHECK(step.block == Sizes{256, 1, 1});
  }
}

TEST_CASE("a product of matrices has a thread for every element") {
  const CudaCode code = compiledForCuda(R"(
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
})");
  // 4096 threads in 16 blocks that are all full.
  const EntryPlan& entry = code.plan.entries[0];
  REQUIRE(entry.steps.size() == 2);
  for (const PlanStep& step : entry.steps)
    CHECK(step.grid == Sizes{16, 1, 1});
}

TEST_CASE("an initial value that is an input is read by the device") {
  const CudaCode code = compiledForCuda(R"(
func.func @main(%a: tensor<8x8xi32>, %b: tensor<i32>) -> tensor<8xi32> {
  %1 = stablehlo.reduce(%a init: %b) applies stablehlo.maximum across dimensions = [0]
    : (tensor<8x8xi32>, tensor<i32>) -> tensor<8xi32>
  return %1 : tensor<8xi32>
})");
  CHECK(code.plan.entries[0].steps.size() == 2);
}

TEST_CASE("constants are kept with the program") {
  const CudaCode code = compiledForCuda(R"(
func.func @main(%a: tensor<2xi16>) -> tensor<2xi16> {
  %0 = stablehlo.constant dense<[1, 258]> : tensor<2xi16>
  %1 = stablehlo.add %a, %0 : tensor<2xi16>
  return %1 : tensor<2xi16>
})");
  CHECK(code.plan.constants == std::string("\1\0\2\1", 4));
  const EntryPlan& entry = code.plan.entries[0];
  REQUIRE(entry.steps.size() == 1);
  CHECK(std::count_if(entry.steps[0].operands.begin(), entry.steps[0].operands.end(),
                      [](const PlanOperand& operand) { return operand.constant; }) == 1);
}

TEST_CASE("an input that comes back is copied on the device") {
  const CudaCode code = compiledForCuda("func.func @main(%a: tensor<10xf64>) -> tensor<10xf64> {\n"
                                        "  return %a : tensor<10xf64>\n}");
  const EntryPlan& entry = code.plan.entries[0];
  REQUIRE(entry.steps.size() == 1);
  CHECK(entry.steps[0].kind == PlanStep::Kind::Copy);
  CHECK(entry.steps[0].bytes == 80);
  CHECK(code.ptx.empty());
}

TEST_CASE("functions of single precision need no library") {
  const CudaCode code = compiledForCuda(R"(
func.func @main(%a: tensor<7xf32>) -> tensor<7xf32> {
  %0 = stablehlo.exponential %a : tensor<7xf32>
  %1 = stablehlo.tanh %0 : tensor<7xf32>
  %2 = stablehlo.sqrt %1 : tensor<7xf32>
  return %2 : tensor<7xf32>
})");
  CHECK_FALSE(contains(code.ptx, ".extern"));
  CHECK(code.plan.entries[0].steps.size() == 1);
}

TEST_CASE("what the device has no function for is a failure with its place") {
  const Failure failure = refusedForCuda("func.func @main(%a: tensor<4xf64>) -> tensor<4xf64> {\n"
                                         "  %0 = stablehlo.sine %a : tensor<4xf64>\n"
                                         "  return %0 : tensor<4xf64>\n}");
  CHECK((failure.kind == FailureKind::UnsupportedOp));
  CHECK(failure.line == 2);
  CHECK(contains(failure.message, "'stablehlo.sine' cannot be run on CUDA devices"));
  CHECK(contains(failure.message, "f64"));
}

TEST_CASE("functions that the host has in libm are a failure with their place") {
  const Failure failure =
      refusedForCuda("func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                     "  %0 = stablehlo.exponential_minus_one %a : tensor<4xf32>\n"
                     "  return %0 : tensor<4xf32>\n}");
  CHECK(failure.line == 2);
  CHECK(contains(failure.message, "no function 'expm1"));
}

TEST_CASE("a function cannot have the name of one of the launcher") {
  const Failure failure = refusedForCuda(R"(func.func @release(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
})");
  CHECK((failure.kind == FailureKind::UnsupportedOp));
  CHECK(failure.line == 1);
  CHECK(contains(failure.message, "function @release: its name in C, nocturne_release, is"));
}

TEST_CASE("loops of the host are a failure with their place") {
  const Failure failure = refusedForCuda(R"(func.func @main(%a: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.while(%i = %a) : tensor<i32>
    cond {
      %c = stablehlo.constant dense<9> : tensor<i32>
      %1 = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %i, %i : tensor<i32>
      stablehlo.return %1 : tensor<i32>
    }
  return %0 : tensor<i32>
})");
  CHECK((failure.kind == FailureKind::UnsupportedOp));
  CHECK(failure.line == 2);
  CHECK(contains(failure.message, "'stablehlo.while' cannot be run on CUDA devices"));
}

} // namespace nocturne::compiler
