// The order of the loops of linalg operations on buffers, and what LLVM may do with their sums.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include "compiler/codegen/optimize.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// StableHLO leaves the order of a reduction to the implementation. Over a window it is nevertheless
// that of the places, which cumulative sums are expected to have; only where places have weights,
// as in convolutions, is it like any other.
bool isOrdered(linalg::GenericOp op) {
  const bool rounds = llvm::any_of(op.getRegionOutputArgs(), [](Value sum) {
    return isa<FloatType, ComplexType>(sum.getType());
  });
  if (op.getNumReductionLoops() == 0 || !rounds)
    return false;
  bool isWindow = false;
  llvm::SmallVector<unsigned> sums;
  op.getReductionDims(sums);
  for (OpOperand* input : op.getDpsInputOperands()) {
    if (op.getMatchingBlockArgument(input).use_empty())
      continue;
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      isWindow = true;
    else if (llvm::any_of(sums, [&](unsigned loop) { return map.isFunctionOfDim(loop); }))
      return false;
  }
  return isWindow;
}

// Parts of a sum may be summed side by side. Of zeros of both signs a maximum may be either, which
// saves half of its instructions.
void allowReordering(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0)
    return;
  const bool isOrderedSum = isOrdered(op);
  for (Value yielded : op.getBlock()->getTerminator()->getOperands()) {
    Operation* combine = yielded.getDefiningOp();
    if (!isa_and_nonnull<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp>(
            combine))
      continue;
    const bool isReduction = llvm::any_of(combine->getOperands(), [&](Value operand) {
      return llvm::is_contained(op.getRegionOutputArgs(), operand);
    });
    const bool isSum = isa<arith::AddFOp, arith::MulFOp>(combine);
    if (!isReduction || (isSum && isOrderedSum))
      continue;
    auto math = cast<arith::ArithFastMathInterface>(combine);
    auto flags = math.getFastMathFlagsAttr().getValue() |
                 (isSum ? arith::FastMathFlags::reassoc | arith::FastMathFlags::contract
                        : arith::FastMathFlags::nsz);
    combine->setAttr(math.getFastMathAttrName(),
                     arith::FastMathFlagsAttr::get(op.getContext(), flags));
  }
}

// How far `loop` moves the place in the buffer of `operand`, if it does so by dimensions of its
// own.
int64_t strideOf(linalg::GenericOp op, OpOperand& operand, unsigned loop) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0, sum = 0;
  if (!type || failed(type.getStridesAndOffset(strides, offset)))
    return 0;
  for (auto [expr, stride] : llvm::zip(op.getMatchingIndexingMap(&operand).getResults(), strides))
    if (expr.isFunctionOfDim(loop))
      sum += ShapedType::isDynamic(stride) ? 2 : stride;
  return sum;
}

// How many operands are not read or written side by side when `loop` is the innermost.
unsigned jumps(linalg::GenericOp op, unsigned loop) {
  unsigned count = 0;
  for (OpOperand& operand : op->getOpOperands())
    count += strideOf(op, operand, loop) > 1;
  return count;
}

void chooseInnermost(IRRewriter& rewriter, linalg::GenericOp op) {
  constexpr int64_t leastExtent = 8;
  const unsigned loops = op.getNumLoops();
  if (loops < 2 || op.hasIndexSemantics())
    return;
  llvm::SmallVector<int64_t> extents = op.getStaticLoopRanges();
  llvm::SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  auto isSum = [&](unsigned loop) { return iterators[loop] == utils::IteratorType::reduction; };
  const bool ordered = isOrdered(op);
  unsigned best = loops - 1, least = jumps(op, best);
  for (unsigned loop = loops - 1; loop-- > 0;) {
    if (extents[loop] < leastExtent || (ordered && isSum(loop)))
      continue;
    // A sum in order cannot be vectorised, but many of them side by side can.
    const unsigned count = jumps(op, loop);
    if (count < least || (ordered && isSum(best) && count == least)) {
      best = loop;
      least = count;
    }
  }
  if (best == loops - 1)
    return;
  llvm::SmallVector<unsigned> order;
  for (unsigned loop = 0; loop < loops; ++loop)
    if (loop != best)
      order.push_back(loop);
  order.push_back(best);
  rewriter.setInsertionPoint(op);
  (void)linalg::interchangeGenericOp(rewriter, op, order); // as it is where this cannot be done
}

class OrderLoops : public PassWrapper<OrderLoops, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OrderLoops)

  llvm::StringRef getName() const override { return "order-loops"; }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    llvm::SmallVector<linalg::LinalgOp> named;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp>(op) && op.getNumReductionLoops() > 0)
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      (void)linalg::generalizeNamedOp(rewriter, op);
    }
    llvm::SmallVector<linalg::GenericOp> generics;
    getOperation().walk([&](linalg::GenericOp op) { generics.push_back(op); });
    for (linalg::GenericOp op : generics) {
      allowReordering(op);
      chooseInnermost(rewriter, op);
    }
  }
};

} // namespace

std::unique_ptr<Pass> createOrderLoopsPass() {
  return std::make_unique<OrderLoops>();
}

} // namespace nocturne::compiler
