#include "compiler/cuda/cuda_module.h"

#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/Support/raw_ostream.h"

#include "compiler/codegen/check_calls.h"
#include "compiler/codegen/entry_points.h"
#include "compiler/codegen/lower_module.h"
#include "compiler/codegen/registry.h"
#include "compiler/cuda/device_form.h"
#include "compiler/cuda/device_tools.h"
#include "compiler/cuda/planner.h"
#include "compiler/cuda/program_image.h"
#include "compiler/cuda/ptx.h"
#include "compiler/lowering/diagnostics.h"
#include "compiler/reader/locations.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// Which operation of the source stands where, so that messages name what was written.
class SourceOperations {
public:
  explicit SourceOperations(ModuleOp module) {
    module.walk([&](Operation* op) {
      std::optional<FileLineColLoc> place = fileLocation(op->getLoc());
      if (place && !isa<ModuleOp, func::FuncOp, func::ReturnOp>(op) &&
          !op->hasTrait<OpTrait::IsTerminator>())
        names_.try_emplace({place->getLine(), place->getColumn()},
                           op->getName().getStringRef().str());
    });
  }

  Failure explain(Operation* op, const std::string& reason) const {
    Failure failure{FailureKind::UnsupportedOp, "", "", 0, 0};
    setPlace(failure, op->getLoc());
    auto found = names_.find({failure.line, failure.column});
    std::string name = found == names_.end() ? op->getName().getStringRef().str() : found->second;
    failure.message = '\'' + name + "' cannot be run on CUDA devices: " + reason;
    return failure;
  }

private:
  std::map<std::pair<unsigned, unsigned>, std::string> names_;
};

class CudaCompilation {
public:
  CudaCompilation(ModuleOp module, const CudaOptions& options, CudaCode& code, Failure& failure)
      : module_(module), options_(options), code_(code), failure_(failure), source_(module) {}

  LogicalResult run() {
    if (failed(checkCalls(module_, failure_)) ||
        failed(readEntryPoints(module_, options_.symbolPrefix, code_.entries, failure_)) ||
        failed(refuseNamesOfTheLauncher()))
      return failure();
    return success(succeeded(stage("linalg", [&] { return lower(); })) &&
                   succeeded(stage("buffers", [&] { return bufferize(); })) &&
                   succeeded(stage("kernels", [&] { return plan(); })) &&
                   succeeded(stage("nvvm", [&] { return lowerDeviceCode(); })) &&
                   succeeded(stage("object", [&] { return emit(); })));
  }

private:
  // Launcher and entry points share a library, and its callers use both from C.
  LogicalResult refuseNamesOfTheLauncher() {
    for (const LibraryEntry& entry : code_.entries) {
      if (!llvm::is_contained({"nocturne_cuda_call", "nocturne_last_error", "nocturne_release"},
                              entry.symbol))
        continue;
      failure_ = {FailureKind::UnsupportedOp,
                  "function @" + entry.name + ": its name in C, " + entry.symbol +
                      ", is that of a function of the launcher",
                  "", 0, 0};
      setPlace(failure_, module_.lookupSymbol(entry.name)->getLoc());
      return failure();
    }
    return success();
  }

  template <typename Step>
  LogicalResult stage(const char* name, Step step) {
    auto start = std::chrono::steady_clock::now();
    if (failed(step()))
      return failure();
    code_.times.push_back(
        {name, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()});
    // What the last stage makes is no IR.
    if (!options_.keepStages || !code_.object.empty())
      return success();
    std::string text;
    llvm::raw_string_ostream stream(text);
    Operation* shown = kernels_ ? kernels_.getOperation() : module_.getOperation();
    shown->print(stream, OpPrintingFlags().elideLargeElementsAttrs(64));
    code_.stages.emplace_back(name, std::move(text));
    return success();
  }

  ExplainFailure explain() {
    return [this](Operation* op, const std::string& reason) { return source_.explain(op, reason); };
  }

  LogicalResult lower() {
    return lowerModule(module_, code_.entries, options_.generateWeights, failure_);
  }

  LogicalResult bufferize() {
    FirstError errors(*module_.getContext());
    // The functions keep the order of the entry points, whatever they are called by now.
    for (auto function : module_.getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal())
        functions_.push_back(function.getSymName().str());
    PassManager passes(module_.getContext());
    addDevicePipeline(passes);
    if (succeeded(passes.run(module_)))
      return success();
    failure_ = errors.failure(FailureKind::Internal, "the tensors of the module get no buffers");
    return failure();
  }

  LogicalResult plan() {
    OpBuilder builder = OpBuilder::atBlockEnd(module_.getBody());
    kernels_ = gpu::GPUModuleOp::create(builder, module_.getLoc(), "kernels");
    if (functions_.size() != code_.entries.size()) {
      failure_ = {FailureKind::Internal, "lowering changed the functions of the module", "", 0, 0};
      return failure();
    }
    for (auto [name, entry] : llvm::zip(functions_, code_.entries)) {
      auto function = module_.lookupSymbol<func::FuncOp>(name);
      if (!function || function.getNumArguments() != entry.arguments.size()) {
        failure_ = {FailureKind::Internal,
                    "code generation changed the signature of @" + entry.name, "", 0, 0};
        return failure();
      }
      if (failed(planEntry(function, entry, kernels_, explain(), code_.plan, failure_)))
        return failure();
    }
    return success();
  }

  LogicalResult lowerDeviceCode() { return lowerKernels(kernels_, explain(), failure_); }

  LogicalResult emit() {
    FirstError errors(*module_.getContext());
    if (failed(emitPtx(kernels_, options_.target, options_.level, code_.ptx, failure_)) ||
        failed(emitHostObject(*module_.getContext(), programImage(code_.plan, code_.ptx),
                              code_.entries, options_.host, code_.object, failure_))) {
      failure_ = errors.failure(FailureKind::Internal, failure_.message);
      return failure();
    }
    try {
      if (options_.check)
        code_.log = checkPtx(code_.ptx, options_.target);
      code_.object = withLauncher(code_.object);
    } catch (const ItemError& error) {
      failure_ = error.failure();
      return failure();
    }
    return success();
  }

  ModuleOp module_;
  const CudaOptions& options_;
  CudaCode& code_;
  Failure& failure_;
  SourceOperations source_;
  std::vector<std::string> functions_;
  gpu::GPUModuleOp kernels_;
};

void registerDevices(MLIRContext& context) {
  static const DialectRegistry registry = [] {
    DialectRegistry made;
    made.insert<gpu::GPUDialect, NVVM::NVVMDialect>();
    registerGPUDialectTranslation(made);
    registerNVVMDialectTranslation(made);
    return made;
  }();
  context.appendDialectRegistry(registry);
  context.loadDialect<gpu::GPUDialect, NVVM::NVVMDialect>();
}

} // namespace

LogicalResult generateCuda(ParsedModule& parsed, const CudaOptions& options, CudaCode& code,
                           Failure& failure) {
  registerCodegen(*parsed.context);
  registerDevices(*parsed.context);
  return CudaCompilation(*parsed.module, options, code, failure).run();
}

LogicalResult generateCuda(std::string text, const std::string& path, const CudaOptions& options,
                           CudaCode& code, Failure& failure) {
  ParsedModule parsed;
  if (failed(scanAndParse(std::move(text), path, parsed, failure)))
    return mlir::failure();
  return generateCuda(parsed, options, code, failure);
}

} // namespace nocturne::compiler
