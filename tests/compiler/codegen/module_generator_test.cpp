#include "compiler/codegen/module_generator.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "compiler/drivers/build_options.h"
#include "compiler/drivers/processor.h"
#include "engine/error.h"

namespace nocturne::compiler {

namespace {

const ModuleSource kAdd = {"add.mlir", R"(
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
})"};

GeneratedCode generated(const std::string& target, const GenerateOptions& options = {}) {
  ModuleGenerator generator;
  return generator.generate(kAdd, generator.resolve(parseTarget(target)), options);
}

std::string resolved(const std::string& target) {
  return ModuleGenerator().resolve(parseTarget(target)).text();
}

} // namespace

TEST_CASE("a module becomes an object whose entry point says how it is called") {
  const GeneratedCode code = generated("cpu");
  CHECK(code.object.starts_with("\x7f"
                                "ELF"));
  REQUIRE(code.entries.size() == 1);
  CHECK(code.entries[0].name == "main");
  CHECK(code.entries[0].symbol == "nocturne_main");
  REQUIRE(code.entries[0].arguments.size() == 3);
  CHECK(code.entries[0].arguments[2].elementBytes == 4);
  CHECK(code.features == std::vector<std::string>{"x86-64-v3"});
  CHECK(code.files.empty());
  CHECK(code.log.find("linalg: ") != std::string::npos);
}

TEST_CASE("only code that calls what libgcc has is linked with it") {
  CHECK(generated("cpu").libraries.empty());
  // This level has no instructions for f16.
  ModuleGenerator generator;
  const ModuleSource half = {"half.mlir", R"(
func.func @main(%a: tensor<4xf16>) -> tensor<4xf16> {
  %0 = stablehlo.add %a, %a : tensor<4xf16>
  return %0 : tensor<4xf16>
})"};
  const GeneratedCode code =
      generator.generate(half, generator.resolve(parseTarget("cpu --arch=x86-64")), {});
  REQUIRE(code.libraries.size() == 1);
  CHECK(code.libraries[0].ends_with("/libgcc.a"));
}

TEST_CASE("forms between module and object are kept on request") {
  GenerateOptions options;
  options.keepIr = true;
  std::vector<std::string> names;
  for (const ExtraFile& file : generated("cpu", options).files)
    names.push_back(file.name);
  for (const char* name : {"module.mlir", "linalg.mlir", "llvm.mlir", "module.ll"})
    CHECK(std::count(names.begin(), names.end(), name) == 1);
}

TEST_CASE("the same module gives the same object") {
  CHECK(generated("cpu").object == generated("cpu").object);
  GenerateOptions options;
  options.flags = {"--opt-level=0"};
  CHECK(generated("cpu", options).object != generated("cpu").object);
}

TEST_CASE("targets are resolved to what no other machine understands otherwise") {
  CHECK(resolved("cpu") == "cpu --arch=x86-64-v3");
  CHECK(resolved("cpu --arch=x86-64-v4") == "cpu --arch=x86-64-v4");
  CHECK(resolved("cpu --features=+avx512f,-fma") ==
        "cpu --arch=x86-64-v3 --features=+avx512f,-fma");
  const std::string native = resolved("cpu --arch=native");
  CHECK(native.find("native") == std::string::npos);
  CHECK(native.find("--features=") != std::string::npos);
  // What is resolved stays as it is, so that it can be typed again.
  CHECK(resolved(native) == native);
}

TEST_CASE("code for this machine runs on this machine") {
  CHECK(missingFeatures(generated("cpu --arch=native").features).empty());
}

TEST_CASE("a processor by name needs what it has, and what was asked for") {
  const std::vector<std::string> features =
      generated("cpu --arch=skylake-avx512 --features=-avx512vl,+avx512vnni").features;
  const auto has = [&](const char* name) {
    return std::count(features.begin(), features.end(), name) == 1;
  };
  CHECK(has("avx512f"));
  CHECK(has("avx512vnni"));
  CHECK_FALSE(has("avx512vl"));
}

TEST_CASE("mistakes in targets and flags are said") {
  for (const char* target : {"cuda --arch=sm_91", "cuda --features=+avx2", "cuda --cpu_arch=8086x",
                             "cpu --arch=8086x", "cpu --features=avx2", "cpu --features=+nonsense"})
    CHECK_THROWS_AS(resolved(target), UsageError);
  for (const char* flag : {"--opt-level=4", "--opt-level=", "--opt-level=11", "-O3", ""}) {
    GenerateOptions options;
    options.flags = {flag};
    CHECK_THROWS_AS(generated("cpu", options), UsageError);
  }
}

TEST_CASE("a module that cannot be compiled fails with its place") {
  ModuleGenerator generator;
  try {
    generator.generate({"bad.mlir", "module {\n  nonsense\n}\n"},
                       generator.resolve(parseTarget("cpu")), {});
    FAIL("nothing was thrown");
  } catch (const ItemError& error) {
    CHECK((error.failure().kind == FailureKind::Unreadable));
    CHECK(error.failure().file == "bad.mlir");
    CHECK(error.failure().line == 2);
  }
}

TEST_CASE("a build that was stopped is not begun") {
  std::stop_source stop;
  stop.request_stop();
  GenerateOptions options;
  options.stop = stop.get_token();
  CHECK_THROWS_AS(generated("cpu", options), BuildCancelled);
}

} // namespace nocturne::compiler
