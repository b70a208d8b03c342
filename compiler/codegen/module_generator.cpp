#include "compiler/codegen/module_generator.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include "compiler/codegen/flags.h"
#include "compiler/codegen/module_code.h"
#include "compiler/codegen/object.h"
#include "compiler/codegen/registry.h"
#include "compiler/codegen/runtime_libraries.h"
#include "compiler/cuda/cuda_generator.h"
#include "compiler/cuda/cuda_module.h"
#include "compiler/drivers/build_options.h"
#include "compiler/lowering/lowering.h"
#include "compiler/reader/reader.h"
#include "compiler/reader/stack.h"
#include "engine/options.h"

namespace nocturne::compiler {

namespace {

constexpr const char* kUsualProcessor = "x86-64-v3";
constexpr std::string_view kCuda = "cuda";

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  for (size_t start = 0; start < list.size();) {
    const size_t end = std::min(list.find(',', start), list.size());
    if (end > start)
      words.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

std::vector<std::string> knownFeatures() {
  initialiseTargets();
  const llvm::Triple triple(kCpuTriple);
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  const std::unique_ptr<llvm::MCSubtargetInfo> info(
      target ? target->createMCSubtargetInfo(triple, kUsualProcessor, "") : nullptr);
  std::vector<std::string> names;
  if (info)
    for (const llvm::SubtargetFeatureKV& feature : info->getAllProcessorFeatures())
      names.emplace_back(feature.Key);
  return names;
}

// LLVM itself would print a warning and go on.
void checkFeatures(const std::string& list) {
  const std::vector<std::string> known = knownFeatures();
  for (const std::string& word : split(list)) {
    if (word.size() < 2 || (word[0] != '+' && word[0] != '-'))
      throw UsageError("--features: \"" + word + "\" is not of the form +name or -name");
    const std::string name = word.substr(1);
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UsageError("--features: processors have no feature \"" + name + '"' +
                       didYouMean(name, known));
  }
}

CpuTarget processorOf(const Target& target) {
  return {target.option("arch"), target.option("features")};
}

// What a processor must have to run the code: the level by its name, of other processors the
// features, changed by those that are listed.
std::vector<std::string> requirements(const CpuTarget& target) {
  std::set<std::string> required;
  if (target.cpu.starts_with("x86-64")) {
    required.insert(target.cpu);
  } else {
    llvm::SmallVector<llvm::StringRef> features;
    if (llvm::X86::parseArchX86(target.cpu) != llvm::X86::CK_None)
      llvm::X86::getFeaturesForCPU(target.cpu, features);
    for (const llvm::StringRef feature : features)
      required.insert(feature.str());
  }
  for (const std::string& word : split(target.features)) {
    if (word[0] == '+')
      required.insert(word.substr(1));
    else
      required.erase(word.substr(1));
  }
  return {required.begin(), required.end()};
}

std::string logOf(const ModuleCode& code) {
  std::string log;
  for (const StageTime& time : code.times) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f ms\n", time.seconds * 1e3);
    log.append("  ").append(time.name).append(": ").append(text);
  }
  return log;
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
  generated.features = requirements(compile.target);
  generated.libraries = runtimeLibraries();
  generated.log = logOf(code);
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
  resolved.options["arch"] = processor.cpu;
  if (!features.empty())
    resolved.options["features"] = features;
  return resolved;
}

} // namespace nocturne::compiler
