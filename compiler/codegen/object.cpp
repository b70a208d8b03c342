#include "compiler/codegen/object.h"

#include <memory>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

#include "compiler/codegen/registry.h"

namespace nocturne::compiler {

namespace {

Failure internalFailure(const std::string& message) {
  return {FailureKind::Internal, message, "", 0, 0};
}

std::unique_ptr<llvm::TargetMachine> makeMachine(const ObjectOptions& options,
                                                 std::string& problem) {
  initialiseTargets();
  llvm::Triple triple(kCpuTriple);
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target)
    return nullptr;
  llvm::CodeGenOptLevel level =
      llvm::CodeGenOpt::getLevel(int(options.level)).value_or(llvm::CodeGenOptLevel::Aggressive);
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, options.target.cpu, options.target.features,
                                  llvm::TargetOptions(), llvm::Reloc::PIC_, std::nullopt, level));
}

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

void optimise(llvm::Module& module, llvm::TargetMachine& machine, unsigned level) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = level > 1;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  llvm::OptimizationLevel wanted = optimizationLevel(level);
  llvm::ModulePassManager passes = level == 0 ? builder.buildO0DefaultPipeline(wanted)
                                              : builder.buildPerModuleDefaultPipeline(wanted);
  passes.run(module, modules);
}

} // namespace

mlir::LogicalResult emitObject(mlir::ModuleOp module, const ObjectOptions& options,
                               EmittedObject& emitted, Failure& failure) {
  std::string problem;
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(options, problem);
  if (!machine) {
    failure = internalFailure("LLVM has no code generator for x86-64: " + problem);
    return mlir::failure();
  }
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = mlir::translateModuleToLLVMIR(module, context, "nocturne");
  if (!code) {
    failure = internalFailure("the lowered module cannot be translated to LLVM IR");
    return mlir::failure();
  }
  code->setTargetTriple(machine->getTargetTriple());
  code->setDataLayout(machine->createDataLayout());
  code->setPICLevel(llvm::PICLevel::BigPIC);
  for (llvm::Function& function : *code) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", options.target.cpu);
    if (!options.target.features.empty())
      function.addFnAttr("target-features", options.target.features);
  }
  optimise(*code, *machine, options.level);
  if (options.keepLlvmIr) {
    llvm::raw_string_ostream stream(emitted.llvmIr);
    code->print(stream, nullptr);
  }
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager emitter;
  if (machine->addPassesToEmitFile(emitter, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    failure = internalFailure("LLVM cannot emit object files for x86-64");
    return mlir::failure();
  }
  emitter.run(*code);
  emitted.bytes.assign(bytes.begin(), bytes.end());
  return mlir::success();
}

} // namespace nocturne::compiler
