// Modules compiled for CUDA devices, as the tests need them.
#pragma once

#include <string>

#include <doctest/doctest.h>

#include "compiler/cuda/cuda_module.h"

namespace nocturne::compiler {

inline CudaCode compiledForCuda(const std::string& text, CudaOptions options = {}) {
  options.check = false; // what ptxas says depends on the machine
  CudaCode code;
  Failure failure;
  const bool worked = mlir::succeeded(generateCuda(text, "test.mlir", options, code, failure));
  INFO(failure.text());
  REQUIRE(worked);
  return code;
}

inline Failure refusedForCuda(const std::string& text) {
  CudaCode code;
  Failure failure;
  REQUIRE(mlir::failed(generateCuda(text, "test.mlir", {}, code, failure)));
  return failure;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* kAdd1000 = R"(
func.func @main(%a: tensor<1000xf32>, %b: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = stablehlo.add %a, %b : tensor<1000xf32>
  return %0 : tensor<1000xf32>
})";

} // namespace nocturne::compiler
