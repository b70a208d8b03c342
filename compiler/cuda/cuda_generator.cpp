#include "compiler/cuda/cuda_generator.h"

#include "compiler/codegen/target.h"
#include "compiler/cuda/cuda_module.h"
#include "compiler/cuda/cuda_target.h"
#include "compiler/reader/stack.h"

namespace nocturne::compiler {

namespace {

// Nothing around the kernels is worth more than this.
constexpr const char* kUsualHost = "x86-64";

} // namespace

Target resolveCuda(const Target& target) {
  Target resolved = target;
  const CudaTarget device = cudaTarget(target.option("arch"), target.option("features"));
  const std::string host = target.option("cpu_arch");
  resolved.options["arch"] = device.arch;
  resolved.options["features"] = device.features();
  resolved.options["cpu_arch"] = cpuTarget(host.empty() ? kUsualHost : host).cpu;
  return resolved;
}

GeneratedCode generateCudaLibrary(const ModuleSource& source, const Target& target,
                                  const CompileOptions& compile) {
  CudaOptions options;
  options.target = cudaTarget(target.option("arch"), target.option("features"));
  options.host.cpu = target.option("cpu_arch");
  options.level = compile.level;
  options.generateWeights = compile.generateWeights;
  options.keepStages = compile.keepStages;
  CudaCode code;
  Failure failure;
  bool succeeded = false;
  runWithDeepStack([&] {
    succeeded = mlir::succeeded(generateCuda(source.text, source.name, options, code, failure));
  });
  if (!succeeded)
    throw ItemError(std::move(failure));
  GeneratedCode generated;
  generated.object = std::move(code.object);
  generated.entries = std::move(code.entries);
  generated.features = requiredFeatures(options.host);
  generated.log = timesText(code.times) + code.log;
  generated.files.push_back({"kernel.ptx", std::move(code.ptx)});
  if (compile.keepStages)
    generated.files.push_back({"module.mlir", source.text});
  for (auto& [name, text] : code.stages)
    generated.files.push_back({name + ".mlir", std::move(text)});
  return generated;
}

} // namespace nocturne::compiler
