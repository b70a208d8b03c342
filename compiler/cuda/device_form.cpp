#include "compiler/cuda/device_form.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "mlir/Transforms/RegionUtils.h"

#include "compiler/codegen/pipeline.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

class Generalize : public PassWrapper<Generalize, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Generalize)

  llvm::StringRef getName() const override { return "generalize-for-devices"; }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateLinalgNamedOpsGeneralizationPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

bool isTensor(Value value) {
  return isa<ShapedType>(value.getType());
}

class SinkScalars : public PassWrapper<SinkScalars, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SinkScalars)

  llvm::StringRef getName() const override { return "sink-scalars"; }
  void getDependentDialects(DialectRegistry& registry) const override {
    registry.insert<arith::ArithDialect, linalg::LinalgDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    llvm::SmallVector<tensor::FromElementsOp> scalars;
    getOperation().walk([&](tensor::FromElementsOp op) {
      if (op.getType().getNumElements() == 1)
        scalars.push_back(op);
    });
    for (tensor::FromElementsOp op : scalars)
      makeGeneric(op);
    getOperation().walk([&](linalg::GenericOp op) { sink(op); });
  }

private:
  // A tensor of one element that is computed outside of tensors.
  static void makeGeneric(tensor::FromElementsOp op) {
    OpBuilder builder(op);
    RankedTensorType type = op.getType();
    Value empty =
        tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(), type.getElementType());
    llvm::SmallVector<utils::IteratorType> loops(size_t(type.getRank()),
                                                 utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        builder, op.getLoc(), TypeRange{type}, ValueRange{}, ValueRange{empty},
        llvm::ArrayRef{builder.getMultiDimIdentityMap(unsigned(type.getRank()))}, loops,
        [&](OpBuilder& inner, Location loc, ValueRange) {
          linalg::YieldOp::create(inner, loc, op.getElements());
        });
    op.replaceAllUsesWith(generic.getResult(0));
    op.erase();
  }

  // What is computed from constants and tensors, without effects.
  static bool canSink(Value value) {
    Operation* op = value.getDefiningOp();
    return op && isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
           llvm::all_of(op->getOperands(),
                        [](Value operand) { return isTensor(operand) || canSink(operand); });
  }

  static Value clone(OpBuilder& builder, Value value, IRMapping& mapping) {
    if (isTensor(value) || mapping.contains(value))
      return mapping.lookupOrDefault(value);
    for (Value operand : value.getDefiningOp()->getOperands())
      clone(builder, operand, mapping);
    builder.clone(*value.getDefiningOp(), mapping);
    return mapping.lookup(value);
  }

  static void sink(linalg::GenericOp op) {
    OpBuilder builder(op.getContext());
    builder.setInsertionPointToStart(op.getBlock());
    IRMapping mapping;
    llvm::SetVector<Value> outside;
    getUsedValuesDefinedAbove(op->getRegions(), outside);
    for (Value value : outside) {
      if (isTensor(value) || !canSink(value))
        continue;
      Value inner = clone(builder, value, mapping);
      value.replaceUsesWithIf(inner, [&](OpOperand& use) {
        return op.getRegion().isAncestor(use.getOwner()->getParentRegion());
      });
    }
    for (OpOperand* input : op.getDpsInputOperands()) {
      Value value = input->get();
      if (isTensor(value) || !canSink(value) || matchPattern(value, m_Constant()))
        continue;
      op.getMatchingBlockArgument(input).replaceAllUsesWith(clone(builder, value, mapping));
      OpBuilder before(op);
      if (TypedAttr zero = before.getZeroAttr(value.getType()))
        input->set(arith::ConstantOp::create(before, op.getLoc(), zero));
    }
  }
};

} // namespace

std::unique_ptr<Pass> createGeneralizePass() {
  return std::make_unique<Generalize>();
}

std::unique_ptr<Pass> createSinkScalarsPass() {
  return std::make_unique<SinkScalars>();
}

void addDevicePipeline(OpPassManager& passes) {
  addInliningPipeline(passes);
  OpPassManager& functions = passes.nest<func::FuncOp>();
  functions.addPass(createGeneralizePass());
  functions.addPass(createSinkScalarsPass());
  // One kernel for a chain of elementwise operations.
  passes.addPass(createLinalgElementwiseOpFusionPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  addBufferization(passes);
  OpPassManager& buffers = passes.nest<func::FuncOp>();
  buffers.addPass(createExpandStridedCopiesPass());
  buffers.addPass(createGeneralizePass());
  buffers.addPass(createCanonicalizerPass());
  buffers.addPass(createCSEPass());
}

} // namespace nocturne::compiler
