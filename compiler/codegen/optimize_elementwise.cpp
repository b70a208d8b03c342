// Which elementwise operations become one. MLIR's pass would take all that have a single use.
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include "compiler/codegen/optimize.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

bool isCostly(linalg::GenericOp op) {
  return llvm::any_of(op.getBlock()->without_terminator(), [](Operation& inner) {
    return isa<math::MathDialect>(inner.getDialect()) || isa<arith::DivFOp, arith::RemFOp>(inner) ||
           inner.getNumRegions() > 0;
  });
}

bool shouldFuse(OpOperand* fused) {
  Operation* producer = fused->get().getDefiningOp();
  if (!producer || !producer->hasOneUse())
    return false;
  auto from = dyn_cast<linalg::GenericOp>(producer);
  auto into = dyn_cast<linalg::GenericOp>(fused->getOwner());
  if (!from || !into)
    return true;
  // A product reads each element many times and has its own way to be fast.
  if (linalg::isaContractionOpInterface(into) || linalg::isaConvolutionOpInterface(into))
    return false;
  // Nor should what is spread over more elements be computed for each of them.
  return into.getNumLoops() <= from.getNumLoops() || !isCostly(from);
}

class FuseElementwise : public PassWrapper<FuseElementwise, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FuseElementwise)

  llvm::StringRef getName() const override { return "fuse-elementwise"; }
  void getDependentDialects(DialectRegistry& registry) const override {
    registry.insert<affine::AffineDialect, linalg::LinalgDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    MLIRContext* context = &getContext();
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, shouldFuse);
    linalg::populateConstantFoldLinalgOperations(patterns, shouldFuse);
    tensor::populateBubbleUpExpandShapePatterns(patterns);
    affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    context->getLoadedDialect<linalg::LinalgDialect>()->getCanonicalizationPatterns(patterns);
    // What the limit on rewrites leaves is slower and no less right.
    (void)applyPatternsGreedily(getOperation(), std::move(patterns),
                                GreedyRewriteConfig().setUseTopDownTraversal());
  }
};

} // namespace

std::unique_ptr<Pass> createFuseElementwisePass() {
  return std::make_unique<FuseElementwise>();
}

} // namespace nocturne::compiler
