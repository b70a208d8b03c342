#include "compiler/codegen/module_generator.h"

#include "llvm/Config/llvm-config.h"

#include "compiler/codegen/flags.h"
#include "compiler/codegen/module_code.h"
#include "compiler/codegen/runtime_libraries.h"
#include "compiler/cuda/cuda_generator.h"
#include "compiler/cuda/cuda_module.h"
#include "compiler/drivers/build_options.h"
#include "compiler/lowering/lowering.h"
#include "compiler/reader/reader.h"
#include "compiler/reader/stack.h"

namespace nocturne::compiler {

namespace {

constexpr const char* kUsualProcessor = "x86-64-v3";
constexpr std::string_view kCuda = "cuda";

CpuTarget processorOf(const Target& target) {
  return {target.option("arch"), target.option("features")};
}

// "linalg" is a file linalg.mlir; what LLVM was given is no MLIR any more.
std::vector<ExtraFile> filesOf(const ModuleSource& source, ModuleCode& code) {
  std::vector<ExtraFile> files = {{"module.mlir", source.text}};
  for (auto& [name, text] : code.stages)
    files.push_back({name == "ll" ? "module.ll" : name + ".mlir", std::move(text)});
  return files;
}

} // namespace

GeneratedCode ModuleGenerator::generate(const ModuleSource& source, const Target& target,
                                        const GenerateOptions& options) {
  CompileOptions compile;
  compile.target = processorOf(target);
  readFlags(options.flags, compile);
  compile.keepStages = options.keepIr;
  if (options.stop.stop_requested())
    throw BuildCancelled("the build was stopped");
  if (target.name == kCuda) {
    if (compile.plain || !compile.schedule.empty() || compile.products != ProductSizes{})
      throw UsageError("code for cuda takes no options but --opt-level and --generate-weights");
    return generateCudaLibrary(source, target, compile);
  }
  ModuleCode code;
  Failure failure;
  bool succeeded = false;
  runWithDeepStack([&] {
    succeeded = mlir::succeeded(compileText(source.text, source.name, compile, code, failure));
  });
  if (!succeeded)
    throw ItemError(std::move(failure));
  GeneratedCode generated;
  generated.object = std::move(code.object);
  generated.entries = std::move(code.entries);
  generated.features = requiredFeatures(compile.target);
  generated.libraries = runtimeLibraries(generated.object);
  generated.log = timesText(code.times);
  if (options.keepIr)
    generated.files = filesOf(source, code);
  return generated;
}

std::string ModuleGenerator::version() const {
  return "codegen " + std::to_string(kCodegenVersion) + " lowering " +
         std::to_string(kLoweringVersion) + " reader " + std::to_string(kReaderVersion) + " cuda " +
         std::to_string(kCudaVersion) + " llvm " LLVM_VERSION_STRING;
}

Target ModuleGenerator::resolve(const Target& target) const {
  if (target.name == kCuda)
    return resolveCuda(target);
  if (target.name != "cpu")
    throw UsageError("target \"" + target.text() + "\": no code is generated for " + target.name +
                     ", only for cpu and cuda");
  Target resolved = target;
  const std::string arch = target.option("arch");
  const CpuTarget processor = cpuTarget(arch.empty() ? kUsualProcessor : arch);
  const std::string wanted = target.option("features");
  checkFeatures(wanted);
  std::string features = processor.features;
  if (!wanted.empty())
    features.append(features.empty() ? "" : ",").append(wanted);
  checkMode({processor.cpu, features});
  resolved.options["arch"] = processor.cpu;
  if (!features.empty())
    resolved.options["features"] = features;
  return resolved;
}

} // namespace nocturne::compiler
