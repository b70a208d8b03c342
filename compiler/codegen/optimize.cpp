#include "compiler/codegen/optimize.h"

#include <memory>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/MC/MCSubtargetInfo.h"

namespace nocturne::compiler {

VectorUnit vectorUnit(const CpuTarget& target) {
  const std::unique_ptr<llvm::MCSubtargetInfo> info = subtargetInfo(target);
  VectorUnit unit;
  if (!info)
    return unit;
  if (info->checkFeatures("+avx512f"))
    unit = {64, 32, true};
  else if (info->checkFeatures("+avx"))
    unit = {32, 16, info->checkFeatures("+fma")};
  return unit;
}

void addOptimisations(mlir::OpPassManager& passes) {
  passes.addNestedPass<mlir::func::FuncOp>(createFuseElementwisePass());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
}

void addBufferOptimisations(mlir::OpPassManager& functionPasses, const CpuTarget& target,
                            const ProductSizes& sizes) {
  const VectorUnit unit = vectorUnit(target);
  functionPasses.addPass(createTileProductsPass(unit, sizes));
  functionPasses.addPass(createOrderLoopsPass());
  functionPasses.addPass(createFuseRowsPass());
  functionPasses.addPass(createMergeSumsPass());
  functionPasses.addPass(createExpandMathPass(unit));
}

} // namespace nocturne::compiler
