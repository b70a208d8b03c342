#include "compiler/codegen/object.h"

#include <memory>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include "compiler/codegen/llvm_target.h"

namespace nocturne::compiler {

namespace {

Failure internalFailure(const std::string& message) {
  return {FailureKind::Internal, message, "", 0, 0};
}

} // namespace

mlir::LogicalResult emitObject(mlir::ModuleOp module, const ObjectOptions& options,
                               EmittedObject& emitted, Failure& failure) {
  const MachineOptions wanted{kCpuTriple, options.target.cpu, options.target.features,
                              llvm::Reloc::PIC_, options.level};
  std::string problem;
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(wanted, problem);
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
  code->setPICLevel(llvm::PICLevel::BigPIC);
  for (llvm::Function& function : *code) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", options.target.cpu);
    if (!options.target.features.empty())
      function.addFnAttr("target-features", options.target.features);
  }
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = options.level > 1;
  optimise(*code, *machine, options.level, tuning);
  if (options.keepLlvmIr) {
    llvm::raw_string_ostream stream(emitted.llvmIr);
    code->print(stream, nullptr);
  }
  if (!emitFile(*code, *machine, llvm::CodeGenFileType::ObjectFile, emitted.bytes)) {
    failure = internalFailure("LLVM cannot emit object files for x86-64");
    return mlir::failure();
  }
  return mlir::success();
}

} // namespace nocturne::compiler
