#include "compiler/cuda/cuda_generator.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "compiler/codegen/module_generator.h"
#include "tests/compiler/cuda/compile_cuda.h"

namespace nocturne::compiler {

namespace {

Target resolved(const std::string& text) {
  return ModuleGenerator().resolve(parseTarget(text));
}

} // namespace

TEST_CASE("targets for devices are resolved with the version of PTX") {
  const std::string sm90 = "cuda --arch=sm_90 --cpu_arch=x86-64 --features=+ptx78";
  CHECK(resolved("cuda").text() == sm90);
  CHECK(resolved("cuda --arch=sm_90").text() == sm90);
  CHECK(resolved(sm90).text() == sm90);
  CHECK(resolved("cuda --arch=sm_90a --cpu_arch=x86-64-v3").text() ==
        "cuda --arch=sm_90a --cpu_arch=x86-64-v3 --features=+ptx80");
}

TEST_CASE("a module for a device becomes an object with its PTX beside it") {
  ModuleGenerator generator;
  const GeneratedCode code =
      generator.generate({"add.mlir", kAdd1000}, resolved("cuda --arch=sm_90"), {});
  CHECK(code.object.starts_with("\x7f"
                                "ELF"));
  REQUIRE(code.entries.size() == 1);
  CHECK(code.entries[0].symbol == "nocturne_main");
  CHECK(code.entries[0].arguments.size() == 3);
  CHECK(code.features == std::vector<std::string>{"x86-64"});
  CHECK(code.libraries.empty());
  REQUIRE(code.files.size() == 1);
  CHECK(code.files[0].name == "kernel.ptx");
  CHECK(contains(code.files[0].content, ".target sm_90"));
  GenerateOptions options;
  options.keepIr = true;
  CHECK(generator.generate({"add.mlir", kAdd1000}, resolved("cuda"), options).files.size() == 6);
}

TEST_CASE("a library around kernels asks for the features of its processor, which loaders know") {
  const GeneratedCode code =
      ModuleGenerator().generate({"add.mlir", kAdd1000}, resolved("cuda --cpu_arch=skylake"), {});
  CHECK(std::count(code.features.begin(), code.features.end(), "avx2") == 1);
  CHECK(std::count(code.features.begin(), code.features.end(), "skylake") == 0);
}

TEST_CASE("modules that devices cannot run fail with their place") {
  try {
    ModuleGenerator().generate({"sine.mlir", "func.func @main(%a: tensor<f64>) -> tensor<f64> {\n"
                                             "  %0 = stablehlo.sine %a : tensor<f64>\n"
                                             "  return %0 : tensor<f64>\n}"},
                               resolved("cuda"), {});
    FAIL("nothing was thrown");
  } catch (const ItemError& error) {
    CHECK((error.failure().kind == FailureKind::UnsupportedOp));
    CHECK(error.failure().file == "sine.mlir");
    CHECK(error.failure().line == 2);
  }
}

} // namespace nocturne::compiler
