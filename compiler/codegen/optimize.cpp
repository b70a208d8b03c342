#include "compiler/codegen/optimize.h"

#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Transforms/Passes.h"

namespace nocturne::compiler {

void addOptimisations(mlir::OpPassManager& passes, const CpuTarget&) {
  // One loop nest for a chain of elementwise operations, without the tensors between them.
  passes.addPass(mlir::createLinalgElementwiseOpFusionPass());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
}

} // namespace nocturne::compiler
