#include "compiler/codegen/llvm_target.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"

#include "compiler/codegen/registry.h"

namespace nocturne::compiler {

namespace {

llvm::OptimizationLevel optimizationLevel(unsigned level) {
  switch (level) {
  case 0:
    return llvm::OptimizationLevel::O0;
  case 1:
    return llvm::OptimizationLevel::O1;
  case 2:
    return llvm::OptimizationLevel::O2;
  default:
    return llvm::OptimizationLevel::O3;
  }
}

} // namespace

std::unique_ptr<llvm::TargetMachine> makeMachine(const MachineOptions& options,
                                                 std::string& problem) {
  initialiseTargets();
  const llvm::Triple triple(options.triple);
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target)
    return nullptr;
  const llvm::CodeGenOptLevel level =
      llvm::CodeGenOpt::getLevel(int(options.level)).value_or(llvm::CodeGenOptLevel::Aggressive);
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, options.cpu, options.features, llvm::TargetOptions(),
                                  options.relocation, std::nullopt, level));
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine, unsigned level,
              const llvm::PipelineTuningOptions& tuning) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  const llvm::OptimizationLevel wanted = optimizationLevel(level);
  llvm::ModulePassManager passes = level == 0 ? builder.buildO0DefaultPipeline(wanted)
                                              : builder.buildPerModuleDefaultPipeline(wanted);
  passes.run(module, modules);
}

bool emitFile(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type,
              std::string& bytes) {
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager emitter;
  if (machine.addPassesToEmitFile(emitter, stream, nullptr, type))
    return false;
  emitter.run(module);
  bytes.assign(buffer.begin(), buffer.end());
  return true;
}

} // namespace nocturne::compiler
