#include "compiler/codegen/check_sizes.h"

#include <doctest/doctest.h>

#include "compiler/codegen/module_code.h"

namespace nocturne::compiler {

namespace {

// Of a module that makes a tensor of such a type; "" when it compiles.
std::string problemWith(const std::string& type) {
  ModuleCode code;
  Failure failure;
  const std::string text =
      "func.func @main() -> tensor<i32> {\n  %0 = stablehlo.iota dim = 0 : " + type +
      "\n  %1 = stablehlo.constant dense<1> : tensor<i32>\n"
      "  return %1 : tensor<i32>\n}\n";
  static_cast<void>(compileText(text, "test.mlir", {}, code, failure));
  return failure.message.empty() ? "" : failure.text();
}

} // namespace

TEST_CASE("tensors of more bytes than there are addresses are refused with their place") {
  const auto refused = [](const std::string& type) {
    return "test.mlir:2:8: a value of type " + type + " is larger than all addresses";
  };
  for (const std::string type : {"tensor<70368744177665xi16>",          // 2^46 + 1 elements
                                 "tensor<35184372088833xcomplex<f16>>", // 2^45 + 1 elements
                                 "tensor<4294967296x4294967296xi32>"})  // 2^64 elements
    CHECK(problemWith(type) == refused(type));
  CHECK(problemWith("tensor<35184372088832xi16>").empty());
}

TEST_CASE("arguments that are too large are refused as results are") {
  ModuleCode code;
  Failure failure;
  static_cast<void>(compileText("func.func @main(%x: tensor<9223372036854775807xf64>) -> "
                                "tensor<i32> {\n"
                                "  %0 = stablehlo.constant dense<1> : tensor<i32>\n"
                                "  return %0 : tensor<i32>\n}\n",
                                "test.mlir", {}, code, failure));
  CHECK((failure.kind == FailureKind::UnsupportedOp));
  CHECK(failure.line == 1);
}

} // namespace nocturne::compiler
