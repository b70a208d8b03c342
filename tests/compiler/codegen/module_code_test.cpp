#include "compiler/codegen/module_code.h"

#include <doctest/doctest.h>

namespace nocturne::compiler {

namespace {

constexpr const char* kAddText = R"(
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  %1 = stablehlo.multiply %0, %b : tensor<4xf32>
  return %1 : tensor<4xf32>
})";

ModuleCode compiled(const std::string& text, const CompileOptions& options = {}) {
  ModuleCode code;
  Failure failure;
  bool worked = mlir::succeeded(compileText(text, "test.mlir", options, code, failure));
  INFO(failure.text());
  REQUIRE(worked);
  return code;
}

const std::string& stage(const ModuleCode& code, const std::string& name) {
  for (const auto& [stageName, text] : code.stages)
    if (stageName == name)
      return text;
  FAIL("no stage " << name);
  return code.object;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a module becomes an object file with an entry point") {
  ModuleCode code = compiled(kAddText);
  CHECK(code.object.starts_with("\x7F"
                                "ELF"));
  REQUIRE(code.entries.size() == 1);
  CHECK(has(code.object, code.entries[0].symbol));
  CHECK(code.times.size() == 5);
  CHECK(code.stages.empty());
}

TEST_CASE("the same module gives the same bytes") {
  CHECK(compiled(kAddText).object == compiled(kAddText).object);
}

TEST_CASE("elementwise chains become one loop without memory of their own") {
  CompileOptions options;
  options.keepStages = true;
  ModuleCode code = compiled(kAddText, options);
  CHECK_FALSE(has(stage(code, "buffers"), "memref.alloc"));
  CHECK_FALSE(has(stage(code, "ll"), "malloc"));
  CHECK(has(stage(code, "ll"), "<4 x float>"));
}

TEST_CASE("functions with names of C's library do not replace it") {
  CompileOptions options;
  options.keepStages = true;
  ModuleCode code = compiled(R"(
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @tanf(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.exponential %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @tanf(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %0 : tensor<4xf32>
})",
                             options);
  CHECK_FALSE(has(stage(code, "ll"), "@tanf"));
}

TEST_CASE("inputs that come back are copied") {
  CompileOptions options;
  options.keepStages = true;
  ModuleCode code = compiled("func.func @main(%a: tensor<1024xf32>) -> tensor<1024xf32> {\n"
                             "  return %a : tensor<1024xf32>\n}",
                             options);
  CHECK(has(stage(code, "ll"), "llvm.memcpy"));
}

TEST_CASE("what cannot be compiled is a failure with its place") {
  ModuleCode code;
  Failure failure;
  CHECK(mlir::failed(compileText("func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                                 "  %0 = \"other.thing\"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
                                 "  return %0 : tensor<4xf32>\n}",
                                 "test.mlir", {}, code, failure)));
  CHECK((failure.kind == FailureKind::UnsupportedOp));
  CHECK(failure.file == "test.mlir");
  CHECK(failure.line == 2);
  CHECK(has(failure.message, "other.thing"));
}

} // namespace nocturne::compiler
