#include "compiler/cuda/kernel.h"

#include <limits>

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

bool isFixed(MemRefType type) {
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  return type.hasStaticShape() && succeeded(type.getStridesAndOffset(strides, offset)) &&
         !ShapedType::isDynamic(offset) && !ShapedType::isDynamicShape(strides);
}

class Builder {
public:
  Builder(linalg::GenericOp op, Kernel& kernel)
      : op_(op), kernel_(kernel), loc_(op.getLoc()), ranges_(op.getStaticLoopRanges()) {}

  KernelProblem build(gpu::GPUModuleOp module, const std::string& name) {
    kernel_.name = name;
    if (KernelProblem problem = split(); !problem.empty())
      return problem;
    if (KernelProblem problem = collectOperands(); !problem.empty())
      return problem;
    if (threads_ == 0 || kernel_.operands.empty())
      return "";
    kernel_.blocks = uint32_t((threads_ + kThreadsPerBlock - 1) / kThreadsPerBlock);
    emit(module);
    return "";
  }

private:
  // Which loops become threads, and whether no two threads write to one place.
  KernelProblem split() {
    for (auto [i, kind] : llvm::enumerate(op_.getIteratorTypesArray())) {
      if (ShapedType::isDynamic(ranges_[i]))
        return "its shape is not fixed";
      (kind == utils::IteratorType::parallel ? parallel_ : reduced_).push_back(unsigned(i));
    }
    uint64_t most = uint64_t(std::numeric_limits<int32_t>::max()) * kThreadsPerBlock;
    for (unsigned i : parallel_) {
      threads_ *= uint64_t(ranges_[i]);
      if (threads_ > most)
        return "it has more elements than a grid of blocks can have threads";
    }
    for (OpOperand& init : op_.getDpsInitsMutable()) {
      AffineMap map = op_.getMatchingIndexingMap(&init);
      if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
        return "it writes to places that are not its own indices";
      for (unsigned i = 0; i < ranges_.size(); ++i) {
        bool shared = !map.isFunctionOfDim(i) && llvm::is_contained(parallel_, i);
        bool scattered = map.isFunctionOfDim(i) && llvm::is_contained(reduced_, i);
        if ((shared || scattered) && ranges_[i] != 1)
          return "several of its elements go to one place";
      }
    }
    return "";
  }

  // The buffers that the kernel is given, and the values that it has to make itself.
  KernelProblem collectOperands() {
    llvm::SetVector<Value> used(op_->operand_begin(), op_->operand_end());
    getUsedValuesDefinedAbove(op_->getRegions(), used);
    for (Value value : used) {
      if (auto type = dyn_cast<MemRefType>(value.getType())) {
        if (!isFixed(type))
          return "a tensor of it does not lie at a fixed place";
        kernel_.operands.push_back(value);
      } else if (value.getDefiningOp() &&
                 value.getDefiningOp()->hasTrait<OpTrait::ConstantLike>()) {
        constants_.push_back(value.getDefiningOp());
      } else {
        return "it needs a number that the host would have to read from a tensor";
      }
    }
    return "";
  }

  Value index(OpBuilder& builder, int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc_, value);
  }

  void emit(gpu::GPUModuleOp module) {
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    llvm::SmallVector<Type> types =
        llvm::map_to_vector(kernel_.operands, [](Value buffer) { return Type(buffer.getType()); });
    auto function =
        gpu::GPUFuncOp::create(builder, loc_, kernel_.name, builder.getFunctionType(types, {}));
    function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), builder.getUnitAttr());
    function.setKnownBlockSizeAttr(builder.getDenseI32ArrayAttr({int32_t(kThreadsPerBlock), 1, 1}));
    builder.setInsertionPointToStart(&function.getBody().front());
    for (auto [buffer, argument] : llvm::zip(kernel_.operands, function.getArguments()))
      mapping_.map(buffer, argument);
    for (Operation* constant : constants_)
      builder.clone(*constant, mapping_);
    Value thread = threadNumber(builder);
    gpu::ReturnOp::create(builder, loc_);
    builder.setInsertionPoint(function.getBody().front().getTerminator());
    if (threads_ % kThreadsPerBlock != 0) {
      Value inside = arith::CmpIOp::create(builder, loc_, arith::CmpIPredicate::ult, thread,
                                           index(builder, int64_t(threads_)));
      auto guard = scf::IfOp::create(builder, loc_, inside, /*withElseRegion=*/false);
      builder.setInsertionPoint(guard.thenBlock()->getTerminator());
    }
    emitElement(builder, thread);
  }

  Value threadNumber(OpBuilder& builder) {
    Type type = builder.getIndexType();
    Value block = gpu::BlockIdOp::create(builder, loc_, type, gpu::Dimension::x);
    Value lane = gpu::ThreadIdOp::create(builder, loc_, type, gpu::Dimension::x);
    Value first = arith::MulIOp::create(builder, loc_, block, index(builder, kThreadsPerBlock));
    return arith::AddIOp::create(builder, loc_, first, lane);
  }

  void emitElement(OpBuilder& builder, Value thread) {
    indices_.assign(ranges_.size(), Value());
    for (unsigned i : llvm::reverse(parallel_)) {
      Value range = index(builder, ranges_[i]);
      bool outermost = i == parallel_.front();
      indices_[i] =
          outermost ? thread : arith::RemUIOp::create(builder, loc_, thread, range).getResult();
      if (!outermost)
        thread = arith::DivUIOp::create(builder, loc_, thread, range);
    }
    // The places of results are none of the reduced dimensions' business.
    for (unsigned i : reduced_)
      indices_[i] = index(builder, 0);
    llvm::SmallVector<llvm::SmallVector<Value>> places;
    llvm::SmallVector<Value> elements;
    for (OpOperand& init : op_.getDpsInitsMutable()) {
      places.push_back(placeOf(builder, init));
      bool read = !reduced_.empty() || op_.payloadUsesValueFromOperand(&init);
      elements.push_back(read ? load(builder, init, places.back()) : Value());
    }
    elements = reduce(builder, 0, elements);
    for (auto [i, init] : llvm::enumerate(op_.getDpsInitsMutable()))
      memref::StoreOp::create(builder, loc_, elements[i], mapping_.lookup(init.get()), places[i]);
  }

  llvm::SmallVector<Value> placeOf(OpBuilder& builder, OpOperand& operand) {
    llvm::SmallVector<Value> place;
    for (AffineExpr result : op_.getMatchingIndexingMap(&operand).getResults())
      place.push_back(affine::expandAffineExpr(builder, loc_, result, indices_, {}));
    return place;
  }

  Value load(OpBuilder& builder, OpOperand& operand, ValueRange place) {
    return memref::LoadOp::create(builder, loc_, mapping_.lookup(operand.get()), place);
  }

  // Loops over the reduced dimensions from the `depth`-th, which carry the elements of the results.
  llvm::SmallVector<Value> reduce(OpBuilder& builder, size_t depth, ValueRange elements) {
    if (depth == reduced_.size())
      return emitBody(builder, elements);
    unsigned dimension = reduced_[depth];
    auto loop = scf::ForOp::create(builder, loc_, index(builder, 0),
                                   index(builder, ranges_[dimension]), index(builder, 1), elements);
    indices_[dimension] = loop.getInductionVar();
    OpBuilder inner = OpBuilder::atBlockEnd(loop.getBody());
    llvm::SmallVector<Value> next = reduce(inner, depth + 1, loop.getRegionIterArgs());
    scf::YieldOp::create(inner, loc_, next);
    return loop.getResults();
  }

  llvm::SmallVector<Value> emitBody(OpBuilder& builder, ValueRange elements) {
    Block* body = op_.getBlock();
    IRMapping mapping = mapping_;
    for (OpOperand* input : op_.getDpsInputOperands()) {
      BlockArgument argument = op_.getMatchingBlockArgument(input);
      if (!isa<MemRefType>(input->get().getType()))
        mapping.map(argument, mapping_.lookup(input->get()));
      else if (!argument.use_empty())
        mapping.map(argument, load(builder, *input, placeOf(builder, *input)));
    }
    for (auto [i, init] : llvm::enumerate(op_.getDpsInitsMutable()))
      if (elements[i])
        mapping.map(op_.getMatchingBlockArgument(&init), elements[i]);
    for (Operation& op : body->without_terminator())
      builder.clone(op, mapping);
    replaceIndices(mapping);
    return llvm::map_to_vector(body->getTerminator()->getOperands(),
                               [&](Value value) { return mapping.lookupOrDefault(value); });
  }

  // linalg.index may also stand in regions inside the body, so it is replaced after cloning.
  void replaceIndices(IRMapping& mapping) {
    op_.getBlock()->walk([&](linalg::IndexOp original) {
      Value clone = mapping.lookup(original.getResult());
      clone.replaceAllUsesWith(indices_[original.getDim()]);
      clone.getDefiningOp()->erase();
      mapping.map(original.getResult(), indices_[original.getDim()]);
    });
  }

  linalg::GenericOp op_;
  Kernel& kernel_;
  Location loc_;
  llvm::SmallVector<int64_t> ranges_;
  llvm::SmallVector<unsigned> parallel_, reduced_;
  uint64_t threads_ = 1;
  llvm::SmallVector<Operation*> constants_;
  IRMapping mapping_; // of the host's values to the kernel's
  llvm::SmallVector<Value> indices_;
};

} // namespace

KernelProblem buildKernel(linalg::GenericOp op, gpu::GPUModuleOp kernels, const std::string& name,
                          Kernel& kernel) {
  return Builder(op, kernel).build(kernels, name);
}

} // namespace nocturne::compiler
