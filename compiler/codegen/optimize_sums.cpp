// A sum (or maximum, or minimum) over what another loop writes is taken in that loop: a softmax
// then goes through the exponentials of a row once less.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include "compiler/codegen/next_row.h"
#include "compiler/codegen/optimize.h"
#include "compiler/codegen/optimize_memory.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// Whether each buffer is used at the place that the only loop has reached, or at one place.
bool isOneLoop(linalg::GenericOp op) {
  if (op.getNumLoops() != 1 || !op.hasPureBufferSemantics() || op.hasIndexSemantics() ||
      ShapedType::isDynamic(op.getStaticLoopRanges()[0]) || !usesOnlyOperands(op))
    return false;
  return llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return llvm::all_of(map.getResults(), [](AffineExpr expr) {
      return isa<AffineDimExpr, AffineConstantExpr>(expr);
    });
  });
}

bool writesElements(linalg::GenericOp op) {
  return isOneLoop(op) && op.getNumParallelLoops() == 1;
}

// Only what LLVM can compute side by side: the other loop's vectors must not be lost to a chain of
// scalar operations.
bool isReduction(linalg::GenericOp op) {
  if (!isOneLoop(op) || op.getNumReductionLoops() != 1 || op.getNumDpsInits() != 1)
    return false;
  if (!op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isConstant())
    return false;
  Value result = op.getBlock()->getTerminator()->getOperand(0);
  if (!result.getType().isF32() && !result.getType().isF64())
    return false;
  Operation* combine = result.getDefiningOp();
  if (!combine || !llvm::is_contained(combine->getOperands(), op.getRegionOutputArgs()[0]) ||
      !op.getRegionOutputArgs()[0].hasOneUse())
    return false;
  if (auto add = dyn_cast<arith::AddFOp>(combine))
    return bitEnumContainsAll(add.getFastmath(), arith::FastMathFlags::reassoc);
  return isa<arith::MaximumFOp, arith::MinimumFOp>(combine);
}

bool isBuffer(OpOperand& operand) {
  return isa<MemRefType>(operand.get().getType());
}

// What an operation reads at one place, it can read before its loop.
bool isReadOnce(linalg::LinalgOp op, OpOperand& operand) {
  return isBuffer(operand) && !op.isDpsInit(&operand) &&
         op.getMatchingIndexingMap(&operand).isConstant();
}

// Whether `op` uses memory of `buffer`, or writes it.
bool touches(linalg::LinalgOp op, Value buffer, bool writesOnly) {
  return llvm::any_of(op->getOpOperands(), [&](OpOperand& operand) {
    return isBuffer(operand) && (!writesOnly || op.isDpsInit(&operand)) &&
           mayOverlap(operand.get(), buffer);
  });
}

// Whether the loop of `first`, what is read once aside, can run as late as `second`.
bool canWaitFor(linalg::GenericOp first, linalg::LinalgOp second) {
  return llvm::none_of(first->getOpOperands(), [&](OpOperand& operand) {
    return isBuffer(operand) && !isReadOnce(first, operand) &&
           touches(second, operand.get(), !first.isDpsInit(&operand));
  });
}

// Whether what is read once is not written by the same operation.
bool readsBefore(linalg::GenericOp op) {
  return llvm::none_of(op->getOpOperands(), [&](OpOperand& operand) {
    return isReadOnce(op, operand) && touches(op, operand.get(), true);
  });
}

// Of each operand of `sum` the result of `elements` that it is; nothing when there is none, or one
// is another part of a result.
using Links = llvm::SmallVector<std::optional<unsigned>>;
std::optional<Links> linksOf(linalg::GenericOp elements, linalg::GenericOp sum) {
  Links links(sum->getNumOperands());
  bool linked = false;
  for (OpOperand& operand : sum->getOpOperands()) {
    if (!isBuffer(operand))
      continue;
    for (auto [i, written] : llvm::enumerate(elements.getDpsInitsMutable())) {
      if (!sum.isDpsInit(&operand) && operand.get() == written.get() &&
          sum.getMatchingIndexingMap(&operand) == elements.getMatchingIndexingMap(&written)) {
        links[operand.getOperandNumber()] = unsigned(i);
        linked = true;
      } else if (mayOverlap(operand.get(), written.get())) {
        return std::nullopt;
      }
    }
  }
  const bool clobbers = llvm::any_of(elements->getOpOperands(), [&](OpOperand& operand) {
    return isBuffer(operand) && !isReadOnce(elements, operand) &&
           mayOverlap(operand.get(), sum.getDpsInits()[0]);
  });
  if (!linked || clobbers || !readsBefore(elements) || !readsBefore(sum))
    return std::nullopt;
  return links;
}

// Makes one loop of two operations at the place of the second.
class Merger {
public:
  Merger(linalg::GenericOp elements, linalg::GenericOp sum, Links links)
      : elements_(elements), sum_(sum), links_(std::move(links)), b_(sum) {}

  void run() {
    b_.setInsertionPoint(elements_);
    beforeElements_ = readOnce(elements_);
    b_.setInsertionPoint(sum_);
    beforeSum_ = readOnce(sum_);
    OpOperand& total = sum_.getDpsInitsMutable()[0];
    Value zero = constant(0);
    Value result = emit(load(sum_, total, zero));
    memref::StoreOp::create(b_, sum_.getLoc(), result, total.get(), placeOf(sum_, total, zero));
    elements_.erase();
    sum_.erase();
  }

private:
  using Arguments = llvm::SmallVector<Value>; // of a body; absent what has not been read yet

  // All loops; what is added up to `start`.
  Value emit(Value start) {
    const int64_t extent = sum_.getStaticLoopRanges()[0];
    std::optional<NextRow> next = NextRow::readAgainBy(elements_);
    if (!next)
      return emitLoop(constant(0), constant(extent), start);
    next->find(b_);
    const int64_t step = next->step(), whole = extent - extent % step;
    Value stepValue = constant(step);
    auto steps =
        scf::ForOp::create(b_, sum_.getLoc(), constant(0), constant(whole), stepValue, start);
    b_.setInsertionPointToStart(steps.getBody());
    Value first = steps.getInductionVar();
    next->request(b_, first);
    Value end = arith::AddIOp::create(b_, sum_.getLoc(), first, stepValue);
    scf::YieldOp::create(b_, sum_.getLoc(), emitLoop(first, end, steps.getRegionIterArg(0)));
    b_.setInsertionPointAfter(steps);
    Value result = steps.getResult(0);
    return whole < extent ? emitLoop(constant(whole), constant(extent), result) : result;
  }

  Value emitLoop(Value first, Value end, Value start) {
    auto loop = scf::ForOp::create(b_, sum_.getLoc(), first, end, constant(1), start);
    b_.setInsertionPointToStart(loop.getBody());
    Value index = loop.getInductionVar();
    const Arguments written = clone(elements_, readAll(elements_, beforeElements_, index));
    for (auto [value, operand] : llvm::zip(written, elements_.getDpsInitsMutable()))
      memref::StoreOp::create(b_, elements_.getLoc(), value, operand.get(),
                              placeOf(elements_, operand, index));
    Arguments terms = beforeSum_;
    for (auto [term, link] : llvm::zip(terms, links_))
      if (link)
        term = written[*link];
    terms.back() = loop.getRegionIterArg(0);
    scf::YieldOp::create(b_, sum_.getLoc(), clone(sum_, readAll(sum_, terms, index)));
    b_.setInsertionPointAfter(loop);
    return loop.getResult(0);
  }

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b_, sum_.getLoc(), value); }

  Arguments placeOf(linalg::GenericOp op, OpOperand& operand, Value index) {
    return llvm::map_to_vector(op.getMatchingIndexingMap(&operand).getResults(),
                               [&](AffineExpr expr) -> Value {
                                 if (auto fixed = dyn_cast<AffineConstantExpr>(expr))
                                   return constant(fixed.getValue());
                                 return index;
                               });
  }

  Value load(linalg::GenericOp op, OpOperand& operand, Value index) {
    return memref::LoadOp::create(b_, op.getLoc(), operand.get(), placeOf(op, operand, index));
  }

  Arguments readOnce(linalg::GenericOp op) {
    return llvm::map_to_vector(op->getOpOperands(), [&](OpOperand& operand) -> Value {
      if (!isBuffer(operand))
        return operand.get();
      return isReadOnce(op, operand) ? load(op, operand, {}) : Value();
    });
  }

  // What the body does not ask for is not read.
  Arguments readAll(linalg::GenericOp op, Arguments arguments, Value index) {
    for (auto [argument, operand] : llvm::zip(arguments, op->getOpOperands()))
      if (!argument && !op.getMatchingBlockArgument(&operand).use_empty())
        argument = load(op, operand, index);
    return arguments;
  }

  // The body of `op` on `arguments`; what it yields.
  Arguments clone(linalg::GenericOp op, const Arguments& arguments) {
    IRMapping mapping;
    for (auto [from, to] : llvm::zip(op.getBlock()->getArguments(), arguments))
      if (to)
        mapping.map(from, to);
    for (Operation& inner : op.getBlock()->without_terminator())
      b_.clone(inner, mapping);
    return llvm::map_to_vector(op.getBlock()->getTerminator()->getOperands(),
                               [&](Value value) { return mapping.lookupOrDefault(value); });
  }

  linalg::GenericOp elements_, sum_;
  Links links_;
  OpBuilder b_;
  Arguments beforeElements_, beforeSum_;
};

// The operation before `sum` that writes what it adds up, if that can wait for it.
std::optional<Merger> mergerFor(linalg::GenericOp sum) {
  llvm::SmallVector<linalg::LinalgOp> between;
  for (Operation* at = sum->getPrevNode(); at; at = at->getPrevNode()) {
    auto op = dyn_cast<linalg::LinalgOp>(at);
    if (!op && (isa<memref::AllocOp>(at) || (isMemoryEffectFree(at) && at->getNumRegions() == 0)))
      continue;
    if (!op || !op.hasPureBufferSemantics() || !usesOnlyOperands(op))
      return std::nullopt;
    auto elements = dyn_cast<linalg::GenericOp>(at);
    if (elements && writesElements(elements) &&
        elements.getStaticLoopRanges() == sum.getStaticLoopRanges())
      if (std::optional<Links> links = linksOf(elements, sum)) {
        const bool canWait = llvm::all_of(
            between, [&](linalg::LinalgOp other) { return canWaitFor(elements, other); });
        return canWait ? std::optional(Merger(elements, sum, std::move(*links))) : std::nullopt;
      }
    between.push_back(op);
  }
  return std::nullopt;
}

class MergeSums : public PassWrapper<MergeSums, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MergeSums)

  llvm::StringRef getName() const override { return "merge-sums"; }
  void getDependentDialects(DialectRegistry& registry) const override {
    registry.insert<arith::ArithDialect, memref::MemRefDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    llvm::SmallVector<linalg::GenericOp> sums;
    getOperation().walk([&](linalg::GenericOp op) {
      if (isReduction(op))
        sums.push_back(op);
    });
    for (linalg::GenericOp sum : sums)
      if (std::optional<Merger> merger = mergerFor(sum))
        merger->run();
  }
};

} // namespace

std::unique_ptr<Pass> createMergeSumsPass() {
  return std::make_unique<MergeSums>();
}

} // namespace nocturne::compiler
