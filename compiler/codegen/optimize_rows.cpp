// Loops over the same rows become one loop, so that what one operation writes of a row is still in
// the first cache when the next reads it: a softmax reads its input from memory once.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include "compiler/codegen/optimize.h"
#include "compiler/codegen/optimize_memory.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// How an operation uses a buffer in its loop over rows.
struct Use {
  Value buffer;
  bool writes;
  llvm::SmallVector<unsigned> rowDims; // the buffer's dimensions that the row is the index of
};

llvm::SmallVector<Use> usesOf(linalg::LinalgOp op) {
  llvm::SmallVector<Use> uses;
  for (OpOperand& operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    Use use{operand.get(), op.isDpsInit(&operand), {}};
    for (auto [i, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && dim.getPosition() == 0)
        use.rowDims.push_back(unsigned(i));
    uses.push_back(std::move(use));
  }
  return uses;
}

bool sharesDim(const Use& a, const Use& b) {
  return llvm::any_of(a.rowDims, [&](unsigned dim) { return llvm::is_contained(b.rowDims, dim); });
}

// Whether row i of one use and row j of the other are the same memory for i = j only.
bool keepsToRows(const Use& a, const Use& b) {
  if (!a.writes && !b.writes)
    return true;
  if (a.buffer == b.buffer)
    return sharesDim(a, b);
  return !mayOverlap(a.buffer, b.buffer);
}

// An operation whose first loop runs over rows, each of which can be made by itself.
struct Rows {
  linalg::LinalgOp op;
  int64_t extent;
  int64_t width; // elements of a row
  llvm::SmallVector<Use> uses;
};

std::optional<Rows> rowsOf(Operation* operation) {
  auto op = dyn_cast<linalg::LinalgOp>(operation);
  if (!op || !op.hasPureBufferSemantics() || op.getNumLoops() == 0 ||
      op.getBlock()->getNumArguments() != op->getNumOperands() ||
      op.getIteratorTypesArray()[0] != utils::IteratorType::parallel || op.hasIndexSemantics() ||
      !usesOnlyOperands(op))
    return std::nullopt;
  llvm::SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (llvm::any_of(extents, [](int64_t extent) { return extent <= 0; }))
    return std::nullopt;
  Rows rows{op, extents[0], 1, usesOf(op)};
  for (int64_t extent : llvm::drop_begin(extents))
    rows.width *= extent;
  // Only plain rows can be cut out of a buffer.
  for (OpOperand& operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    llvm::SmallVector<int64_t> strides;
    int64_t offset = 0;
    if (!type.hasStaticShape() || failed(type.getStridesAndOffset(strides, offset)))
      return std::nullopt;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
      if (!isa<AffineDimExpr>(expr) && expr.isFunctionOfDim(0))
        return std::nullopt;
  }
  return rows;
}

// Operations that follow each other and may share their loop over rows.
class Group {
public:
  bool accepts(const Rows& next) const {
    if (members_.empty())
      return true;
    if (next.extent != members_.front().extent)
      return false;
    for (const Rows& member : members_)
      for (const Use& a : member.uses)
        for (const Use& b : next.uses)
          if (!keepsToRows(a, b))
            return false;
    return true;
  }

  void add(Rows rows) { members_.push_back(std::move(rows)); }

  // Whether anything of size passes from one to another. Single elements are better left to loops
  // that can be vectorised.
  bool isWorthwhile() const {
    constexpr int64_t leastWidth = 16;
    for (auto [i, a] : llvm::enumerate(members_)) {
      if (a.width < leastWidth)
        continue;
      for (const Rows& b : llvm::drop_begin(members_, i + 1))
        if (b.width >= leastWidth && share(a, b))
          return true;
    }
    return false;
  }

  llvm::ArrayRef<Rows> members() const { return members_; }

private:
  static bool share(const Rows& a, const Rows& b) {
    for (const Use& first : a.uses)
      for (const Use& second : b.uses)
        if (first.buffer == second.buffer && !first.rowDims.empty() &&
            first.rowDims.size() < size_t(cast<MemRefType>(first.buffer.getType()).getRank()))
          return true;
    return false;
  }

  llvm::SmallVector<Rows> members_;
};

// Makes operations on one row of operations on all of them.
class RowEmitter {
public:
  RowEmitter(OpBuilder& builder, Value index) : b_(builder), index_(index) {}

  // `op` without its first loop.
  void emit(linalg::LinalgOp op) {
    MLIRContext* context = b_.getContext();
    const unsigned loops = op.getNumLoops();
    llvm::SmallVector<AffineExpr> dims{getAffineConstantExpr(0, context)};
    for (unsigned i = 1; i < loops; ++i)
      dims.push_back(getAffineDimExpr(i - 1, context));
    llvm::SmallVector<Value> inputs, outputs;
    llvm::SmallVector<AffineMap> maps;
    for (OpOperand& operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      llvm::SmallVector<AffineExpr> results;
      const bool isBuffer = isa<MemRefType>(operand.get().getType());
      for (AffineExpr expr : map.getResults())
        if (auto dim = dyn_cast<AffineDimExpr>(expr); !dim || dim.getPosition() != 0)
          results.push_back(expr.replaceDims(dims));
      maps.push_back(AffineMap::get(loops - 1, 0, results, context));
      Value row = isBuffer ? rowOf(op, operand) : operand.get();
      (op.isDpsInit(&operand) ? outputs : inputs).push_back(row);
    }
    llvm::SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    iterators.erase(iterators.begin());
    auto generic =
        linalg::GenericOp::create(b_, op.getLoc(), TypeRange(), inputs, outputs, maps, iterators);
    IRMapping mapping;
    op.getOperation()->getRegion(0).cloneInto(&generic.getRegion(), mapping);
  }

private:
  // The row of the buffer of `operand`: one value for all that use it.
  Value rowOf(linalg::LinalgOp op, OpOperand& operand) {
    auto type = cast<MemRefType>(operand.get().getType());
    llvm::SmallVector<OpFoldResult> offsets, sizes,
        ones(size_t(type.getRank()), b_.getIndexAttr(1));
    llvm::SmallVector<int64_t> shape;
    for (auto [expr, extent] :
         llvm::zip(op.getMatchingIndexingMap(&operand).getResults(), type.getShape())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      const bool isRow = dim && dim.getPosition() == 0;
      offsets.push_back(isRow ? OpFoldResult(index_) : OpFoldResult(b_.getIndexAttr(0)));
      sizes.push_back(b_.getIndexAttr(isRow ? 1 : extent));
      if (!isRow)
        shape.push_back(extent);
    }
    if (shape.size() == size_t(type.getRank()))
      return operand.get();
    for (const Row& made : made_)
      if (made.buffer == operand.get() && made.offsets == offsets)
        return made.row;
    auto row = memref::SubViewOp::inferRankReducedResultType(shape, type, offsets, sizes, ones);
    made_.push_back(
        {operand.get(), offsets,
         memref::SubViewOp::create(b_, op.getLoc(), row, operand.get(), offsets, sizes, ones)});
    return made_.back().row;
  }

  struct Row {
    Value buffer;
    llvm::SmallVector<OpFoldResult> offsets;
    Value row;
  };

  OpBuilder& b_;
  Value index_;
  llvm::SmallVector<Row> made_;
};

void sinkFreed(Group& group) {
  Operation* last = group.members().back().op;
  llvm::SmallVector<Operation*> freed;
  for (Operation* at = group.members().front().op; at != last; at = at->getNextNode())
    if (isa<memref::DeallocOp>(at))
      freed.push_back(at);
  for (Operation* op : llvm::reverse(freed))
    op->moveAfter(last);
}

// Replaces the group by one loop over its rows and returns that.
scf::ForOp fuse(Group& group) {
  sinkFreed(group);
  Operation* last = group.members().back().op;
  OpBuilder b(last);
  Location loc = last->getLoc();
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); };
  auto loop = scf::ForOp::create(b, loc, constant(0), constant(group.members().front().extent),
                                 constant(1));
  b.setInsertionPointToStart(loop.getBody());
  RowEmitter rows(b, loop.getInductionVar());
  for (const Rows& member : group.members())
    rows.emit(member.op);
  for (const Rows& member : group.members())
    linalg::LinalgOp(member.op)->erase();
  return loop;
}

// What may stand between operations of a group: it touches no memory, or makes or frees some.
bool canStandBetween(Operation& op) {
  return isa<memref::AllocOp, memref::DeallocOp>(op) || isMemoryEffectFree(&op);
}

void fuseIn(Block& block) {
  llvm::SmallVector<Group> groups;
  Group current;
  auto close = [&] {
    if (current.isWorthwhile())
      groups.push_back(std::move(current));
    current = Group();
  };
  for (Operation& op : block) {
    std::optional<Rows> rows = rowsOf(&op);
    if (!rows) {
      if (!canStandBetween(op) || op.getNumRegions() > 0)
        close();
      continue;
    }
    if (!current.accepts(*rows))
      close();
    current.add(std::move(*rows));
  }
  close();
  for (Group& group : groups)
    fuseIn(*fuse(group).getBody());
}

class FuseRows : public PassWrapper<FuseRows, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FuseRows)

  llvm::StringRef getName() const override { return "fuse-rows"; }
  void getDependentDialects(DialectRegistry& registry) const override {
    registry.insert<arith::ArithDialect, memref::MemRefDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    llvm::SmallVector<Block*> blocks;
    getOperation().walk([&](Block* block) {
      if (!isa<linalg::LinalgOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block* block : blocks)
      fuseIn(*block);
  }
};

} // namespace

std::unique_ptr<Pass> createFuseRowsPass() {
  return std::make_unique<FuseRows>();
}

} // namespace nocturne::compiler
