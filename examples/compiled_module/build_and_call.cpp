// Builds a StableHLO module to a library, loads it and calls it.
//
// usage: build_and_call scale.mlir FOLDER
#include <array>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "compiler/codegen/module_generator.h"
#include "compiler/drivers/compiled_module.h"
#include "compiler/drivers/driver.h"

namespace compiler = nocturne::compiler;

namespace {

int buildAndCall(const std::string& path, const std::string& folder) {
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "cannot open %s\n", path.c_str());
    return 1;
  }
  std::string text(std::istreambuf_iterator<char>(file), {});

  // The second time this program runs, the library is there and nothing is built.
  compiler::BuildDriver driver(std::make_shared<compiler::ModuleGenerator>());
  compiler::BuildOutcome outcome =
      compiler::buildIrModule(driver, {path, text}, folder, "cpu --arch=native");
  std::printf("%s %s\n", outcome.built ? "built" : "reused", outcome.link.c_str());

  const compiler::LoadedModule module = compiler::CompiledModule::load(folder);
  const compiler::CompiledFunction scale = module.value().function("main");
  // Inputs first, results after; each is dense and row by row.
  std::array<float, 6> x = {1, 2, 3, 4, 5, 6}, y = {};
  std::array<float, 3> b = {10, 20, 30};
  const std::array<void*, 3> arguments = {x.data(), b.data(), y.data()};
  if (int32_t status = scale.call(arguments); status != compiler::kCallSucceeded) {
    std::fprintf(stderr, "the call failed with code %d\n", status);
    return 1;
  }
  for (size_t row = 0; row < 2; ++row)
    std::printf("%g %g %g\n", y[row * 3], y[row * 3 + 1], y[row * 3 + 2]);
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: build_and_call scale.mlir FOLDER\n");
    return 1;
  }
  try {
    return buildAndCall(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
