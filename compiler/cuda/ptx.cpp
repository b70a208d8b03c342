#include "compiler/cuda/ptx.h"

#include <array>
#include <memory>

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include "compiler/codegen/llvm_target.h"
#include "compiler/lowering/diagnostics.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

constexpr const char* kTriple = "nvptx64-nvidia-cuda";

// Functions that are products of others, and those that are not but have polynomials in f32.
class ExpandMath : public PassWrapper<ExpandMath, OperationPass<gpu::GPUModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMath)

  llvm::StringRef getName() const override { return "expand-math-for-devices"; }
  void getDependentDialects(DialectRegistry& registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect>();
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    static constexpr std::array<llvm::StringRef, 8> kByOthers = {"sinh",  "cosh",  "tan",  "asinh",
                                                                 "acosh", "atanh", "powf", "rsqrt"};
    math::populateExpansionPatterns(patterns, kByOthers);
    auto all = [](llvm::StringRef) { return true; };
    populateMathPolynomialApproximationPatterns(patterns, all);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

// MLIR's own pass would call functions of NVIDIA's library even for what is one instruction.
class LowerToNvvm : public PassWrapper<LowerToNvvm, OperationPass<gpu::GPUModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerToNvvm)

  llvm::StringRef getName() const override { return "lower-to-nvvm"; }
  void getDependentDialects(DialectRegistry& registry) const override {
    registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  }

  void runOnOperation() override {
    LowerToLLVMOptions options(&getContext());
    options.useBarePtrCallConv = true; // shapes are fixed, so that an address says it all
    LLVMTypeConverter converter(&getContext(), options);
    configureGpuToNVVMTypeConverter(converter);
    RewritePatternSet patterns(&getContext());
    populateGpuToNVVMConversionPatterns(converter, patterns);
    constexpr unsigned kBeforeTheLibrary = 10;
    populateMathToLLVMConversionPatterns(converter, patterns, /*approximateLog1p=*/false,
                                         kBeforeTheLibrary);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    index::populateIndexToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    LLVMConversionTarget target(getContext());
    configureGpuToNVVMConversionLegality(target);
    target.addLegalOp<LLVM::CopySignOp, LLVM::FAbsOp, LLVM::FCeilOp, LLVM::FFloorOp,
                      LLVM::RoundEvenOp, LLVM::RoundOp, LLVM::SqrtOp>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

// LLVM ends the process for functions that it has no instructions for.
bool hasInstructions(Operation* op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::CtPopOp, math::FloorOp, math::FmaOp,
             math::RoundEvenOp, math::RoundOp, math::SqrtOp, math::TruncOp, math::IsFiniteOp,
             math::IsInfOp, math::IsNaNOp, math::IsNormalOp>(op);
}

// Lowering calls functions of libm where it has none of its own.
LogicalResult rejectCalls(gpu::GPUModuleOp kernels, const ExplainFailure& explain,
                          Failure& failure) {
  WalkResult walked = kernels.walk([&](func::CallOp call) {
    failure = explain(call, "devices have no function '" + call.getCallee().str() + "'");
    return WalkResult::interrupt();
  });
  return mlir::failure(walked.wasInterrupted());
}

LogicalResult rejectFunctions(gpu::GPUModuleOp kernels, const ExplainFailure& explain,
                              Failure& failure) {
  WalkResult walked = kernels.walk([&](Operation* op) {
    if (!isa<math::MathDialect>(op->getDialect()) || hasInstructions(op))
      return WalkResult::advance();
    std::string type;
    llvm::raw_string_ostream(type) << op->getOperand(0).getType();
    failure =
        explain(op, "devices have no '" + op->getName().getStringRef().str() + "' of " + type);
    return WalkResult::interrupt();
  });
  return mlir::failure(walked.wasInterrupted());
}

LogicalResult rejectLeftovers(gpu::GPUModuleOp kernels, const ExplainFailure& explain,
                              Failure& failure) {
  WalkResult walked = kernels.walk([&](Operation* op) {
    auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
    if (function && function.isExternal()) {
      failure = explain(op, "devices have no function " + function.getName().str());
      return WalkResult::interrupt();
    }
    if (isa<gpu::GPUModuleOp>(op) || isa<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()))
      return WalkResult::advance();
    failure = explain(op, "no PTX can be made for '" + op->getName().getStringRef().str() + "'");
    return WalkResult::interrupt();
  });
  return mlir::failure(walked.wasInterrupted());
}

LogicalResult runPasses(gpu::GPUModuleOp kernels, llvm::function_ref<void(OpPassManager&)> add,
                        const ExplainFailure& explain, Failure& failure) {
  FirstError errors(*kernels.getContext());
  PassManager passes(kernels.getContext(), gpu::GPUModuleOp::getOperationName());
  add(passes);
  if (succeeded(passes.run(kernels)))
    return success();
  Failure said = errors.failure(FailureKind::UnsupportedOp, "");
  failure = explain(kernels, said.message.empty() ? "no PTX can be made for it" : said.message);
  if (said.line != 0) {
    failure.file = said.file;
    failure.line = said.line;
    failure.column = said.column;
  }
  return mlir::failure();
}

void addMath(OpPassManager& passes) {
  passes.addPass(createConvertComplexToStandardPass());
  passes.addPass(math::createMathExtendToSupportedTypes());
  passes.addPass(std::make_unique<ExpandMath>());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

void addLlvm(OpPassManager& passes) {
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createLowerAffinePass());
  passes.addPass(createConvertComplexToLLVMPass());
  passes.addPass(arith::createArithExpandOpsPass());
  passes.addPass(std::make_unique<LowerToNvvm>());
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

Failure internalFailure(const std::string& message) {
  return {FailureKind::Internal, message, "", 0, 0};
}

} // namespace

LogicalResult lowerKernels(gpu::GPUModuleOp kernels, const ExplainFailure& explain,
                           Failure& failure) {
  return success(succeeded(rejectCalls(kernels, explain, failure)) &&
                 succeeded(runPasses(kernels, addMath, explain, failure)) &&
                 succeeded(rejectFunctions(kernels, explain, failure)) &&
                 succeeded(runPasses(kernels, addLlvm, explain, failure)) &&
                 succeeded(rejectLeftovers(kernels, explain, failure)));
}

LogicalResult emitPtx(gpu::GPUModuleOp kernels, const CudaTarget& target, unsigned level,
                      std::string& ptx, Failure& failure) {
  if (kernels.getBody()->empty())
    return success();
  const MachineOptions wanted{kTriple, target.arch, target.features(), std::nullopt, level};
  std::string problem;
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(wanted, problem);
  if (!machine) {
    failure = internalFailure("LLVM has no code generator for PTX: " + problem);
    return mlir::failure();
  }
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(kernels, context, "nocturne");
  if (!code) {
    failure = internalFailure("the kernels cannot be translated to LLVM IR");
    return mlir::failure();
  }
  optimise(*code, *machine, level);
  if (!emitFile(*code, *machine, llvm::CodeGenFileType::AssemblyFile, ptx)) {
    failure = internalFailure("LLVM cannot emit PTX");
    return mlir::failure();
  }
  return success();
}

} // namespace nocturne::compiler
