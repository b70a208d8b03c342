#include "compiler/codegen/pipeline.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include "compiler/codegen/optimize.h"
#include "compiler/codegen/outline_loops.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

class ExpandStridedCopies : public PassWrapper<ExpandStridedCopies, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandStridedCopies)

  llvm::StringRef getName() const override { return "expand-strided-copies"; }
  void getDependentDialects(DialectRegistry& registry) const override {
    registry.insert<linalg::LinalgDialect>();
  }

  void runOnOperation() override {
    llvm::SmallVector<memref::CopyOp> copies;
    getOperation().walk([&](memref::CopyOp copy) {
      if (!isDense(copy.getSource()) || !isDense(copy.getTarget()))
        copies.push_back(copy);
    });
    for (memref::CopyOp copy : copies) {
      OpBuilder builder(copy);
      linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
      copy.erase();
    }
  }

private:
  static bool isDense(Value buffer) {
    auto type = dyn_cast<MemRefType>(buffer.getType());
    return type && type.getLayout().isIdentity();
  }
};

// Results that are one buffer get a buffer each: where results become arguments, MLIR's pass would
// put that buffer's allocation out of existence twice.
class SeparateResults : public PassWrapper<SeparateResults, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SeparateResults)

  llvm::StringRef getName() const override { return "separate-results"; }

  void runOnOperation() override {
    getOperation().walk([](func::ReturnOp end) {
      llvm::SmallDenseSet<Value> seen;
      for (OpOperand& operand : end->getOpOperands()) {
        auto type = dyn_cast<MemRefType>(operand.get().getType());
        if (!type || !type.hasStaticShape() || seen.insert(operand.get()).second)
          continue;
        OpBuilder builder(end);
        Value copy = memref::AllocOp::create(builder, end.getLoc(), type);
        memref::CopyOp::create(builder, end.getLoc(), operand.get(), copy);
        operand.set(copy);
      }
    });
  }
};

} // namespace

std::unique_ptr<Pass> createExpandStridedCopiesPass() {
  return std::make_unique<ExpandStridedCopies>();
}

void addInliningPipeline(OpPassManager& passes) {
  passes.addPass(createInlinerPass());
  passes.addPass(createSymbolDCEPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

void addTensorPipeline(OpPassManager& passes) {
  addInliningPipeline(passes);
  addOptimisations(passes);
}

void addBufferization(OpPassManager& passes) {
  passes.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  // A loop may carry values to its next round in other buffers than they came in.
  bufferize.allowReturnAllocsFromLoops = true;
  passes.addPass(bufferization::createOneShotBufferizePass(bufferize));
  // Without the simplification, results take a detour through a buffer of their own.
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addNestedPass<func::FuncOp>(std::make_unique<SeparateResults>());
  bufferization::BufferResultsToOutParamsPassOptions results;
  results.hoistStaticAllocs = true;
  results.modifyPublicFunctions = true;
  passes.addPass(bufferization::createBufferResultsToOutParamsPass(results));
  bufferization::buildBufferDeallocationPipeline(passes);
  passes.addPass(createConvertBufferizationToMemRefPass());
}

void addBufferPipeline(OpPassManager& passes, const CompileOptions& options) {
  // What frees buffers puts constants before the operations that read them, inside of a mask too,
  // where only one operation may be.
  if (!options.schedule.empty())
    passes.addNestedPass<func::FuncOp>(vector::createLowerVectorMaskPass());
  addBufferization(passes);
  OpPassManager& functions = passes.nest<func::FuncOp>();
  if (!options.plain)
    addBufferOptimisations(functions, options.target, options.products);
  functions.addPass(createExpandStridedCopiesPass());
  functions.addPass(createConvertLinalgToLoopsPass());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
}

void addVectorPipeline(OpPassManager& passes) {
  OpPassManager& functions = passes.nest<func::FuncOp>();
  functions.addPass(vector::createLowerVectorMultiReductionPass());
  VectorTransferToSCFOptions unrolled;
  unrolled.unroll = true;
  functions.addPass(createConvertVectorToSCFPass(unrolled));
  functions.addPass(createLoopInvariantCodeMotionPass());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
}

void addLlvmPipeline(OpPassManager& passes) {
  passes.addPass(createOutlineLoopsPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createLowerAffinePass());
  passes.addPass(createConvertComplexToStandardPass());
  passes.addPass(createConvertComplexToLLVMPass());
  passes.addPass(arith::createArithExpandOpsPass());
  ConvertMathToLLVMPassOptions math;
  math.approximateLog1p = false; // log(1 + x) loses every digit of a small x
  passes.addPass(createConvertMathToLLVMPass(math));
  passes.addPass(createConvertMathToLibmPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertIndexToLLVMPass());
  passes.addPass(createFinalizeMemRefToLLVMConversionPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createUBToLLVMConversionPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

} // namespace nocturne::compiler
