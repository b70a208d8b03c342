#include "compiler/cuda/planner.h"

#include <limits>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "compiler/codegen/entry_points.h"
#include "compiler/cuda/constant_bytes.h"
#include "compiler/cuda/device_memory.h"
#include "compiler/cuda/kernel.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

// Before it is known where buffers lie.
struct Operand {
  bool constant = false;
  size_t buffer = 0;   // of those that lie in the call's block
  uint64_t offset = 0; // in the constants
};

class Planner {
public:
  Planner(const LibraryEntry& entry, gpu::GPUModuleOp kernels, const ExplainFailure& explain,
          ProgramPlan& plan, Failure& failure)
      : entry_(entry), kernels_(kernels), explain_(explain), plan_(plan), failure_(failure) {}

  LogicalResult run(func::FuncOp function) {
    if (!llvm::hasSingleElement(function.getBody()))
      return reject(function, "it branches on the host");
    for (auto [i, argument] : llvm::enumerate(function.getArguments()))
      addBuffer(argument, bytesOf(cast<MemRefType>(argument.getType())));
    for (Operation& op : function.getBody().front())
      if (failed(read(&op)))
        return failure();
    finish();
    return success();
  }

private:
  static constexpr size_t kUntilTheEnd = std::numeric_limits<size_t>::max();

  LogicalResult reject(Operation* op, const std::string& reason) {
    failure_ = explain_(op, reason);
    return failure();
  }

  static uint64_t bytesOf(MemRefType type) {
    return uint64_t(type.getNumElements()) * elementBytes(type.getElementType());
  }

  void addBuffer(Value value, uint64_t bytes) {
    places_[value] = {false, lives_.size(), 0};
    lives_.push_back({bytes, steps_.size(), kUntilTheEnd});
  }

  LogicalResult read(Operation* op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return addKernel(generic);
    if (auto copy = dyn_cast<memref::CopyOp>(op))
      return addCopy(copy);
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      return addAlloc(alloc);
    if (auto global = dyn_cast<memref::GetGlobalOp>(op))
      return addConstant(global);
    if (auto dealloc = dyn_cast<memref::DeallocOp>(op)) {
      auto place = places_.find(dealloc.getMemref());
      if (place != places_.end() && !place->second.constant && !steps_.empty())
        lives_[place->second.buffer].last = steps_.size() - 1;
      return success();
    }
    if (auto view = dyn_cast<ViewLikeOpInterface>(op)) {
      // The offset of a view is part of its type, and so of the kernel.
      if (places_.contains(view.getViewSource()))
        places_[op->getResult(0)] = places_.lookup(view.getViewSource());
      return success();
    }
    // What only computes is of no use unless a kernel wants it, which then says so.
    if (isa<func::ReturnOp>(op) || (isMemoryEffectFree(op) && op->getNumRegions() == 0))
      return success();
    return reject(op, "the host would have to run '" + op->getName().getStringRef().str() + "'");
  }

  LogicalResult addKernel(linalg::GenericOp op) {
    Kernel kernel;
    std::string name = entry_.symbol + '_' + std::to_string(launches_);
    if (KernelProblem problem = buildKernel(op, kernels_, name, kernel); !problem.empty())
      return reject(op, problem);
    if (kernel.blocks == 0)
      return success();
    ++launches_;
    PlanStep step;
    step.kernel = uint32_t(plan_.kernels.size());
    step.grid[0] = kernel.blocks;
    step.block[0] = kThreadsPerBlock;
    plan_.kernels.push_back(std::move(name));
    return addStep(op, std::move(step), kernel.operands);
  }

  LogicalResult addCopy(memref::CopyOp op) {
    auto type = dyn_cast<MemRefType>(op.getSource().getType());
    if (!type || !type.hasStaticShape())
      return reject(op, "its shape is not fixed");
    if (type.getNumElements() == 0)
      return success();
    PlanStep step;
    step.kind = PlanStep::Kind::Copy;
    step.bytes = bytesOf(type);
    return addStep(op, std::move(step), {op.getSource(), op.getTarget()});
  }

  LogicalResult addStep(Operation* op, PlanStep step, llvm::ArrayRef<Value> values) {
    llvm::SmallVector<Operand> operands;
    for (Value value : values) {
      auto place = places_.find(value);
      if (place == places_.end())
        return reject(op, "the host would have to choose one of its tensors");
      operands.push_back(place->second);
    }
    steps_.push_back(std::move(step));
    operands_.push_back(std::move(operands));
    return success();
  }

  LogicalResult addAlloc(memref::AllocOp op) {
    if (!op.getType().hasStaticShape())
      return reject(op, "its shape is not fixed");
    addBuffer(op.getResult(), bytesOf(op.getType()));
    return success();
  }

  LogicalResult addConstant(memref::GetGlobalOp op) {
    auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(op, op.getNameAttr());
    auto elements =
        global ? dyn_cast_if_present<ElementsAttr>(global.getConstantInitValue()) : ElementsAttr();
    std::string bytes;
    if (!elements || !appendElements(elements, bytes))
      return reject(op, "there is no form in memory for its constant");
    plan_.constants.resize((plan_.constants.size() + kBufferAlignment - 1) / kBufferAlignment *
                           kBufferAlignment);
    places_[op.getResult()] = {true, 0, plan_.constants.size()};
    plan_.constants += bytes;
    return success();
  }

  void finish() {
    MemoryLayout layout = layOut(lives_);
    EntryPlan made;
    made.workBytes = layout.bytes;
    for (auto [i, argument] : llvm::enumerate(entry_.arguments))
      made.arguments.push_back({layout.offsets[i], lives_[i].bytes,
                                argument.direction == LibraryArgument::Direction::Out});
    for (auto [step, operands] : llvm::zip(steps_, operands_)) {
      for (const Operand& operand : operands)
        step.operands.push_back(
            {operand.constant, operand.constant ? operand.offset : layout.offsets[operand.buffer]});
      made.steps.push_back(std::move(step));
    }
    plan_.entries.push_back(std::move(made));
  }

  const LibraryEntry& entry_;
  gpu::GPUModuleOp kernels_;
  const ExplainFailure& explain_;
  ProgramPlan& plan_;
  Failure& failure_;
  llvm::DenseMap<Value, Operand> places_;
  std::vector<BufferLife> lives_;
  std::vector<PlanStep> steps_;
  std::vector<llvm::SmallVector<Operand>> operands_;
  size_t launches_ = 0;
};

} // namespace

LogicalResult planEntry(func::FuncOp function, const LibraryEntry& entry, gpu::GPUModuleOp kernels,
                        const ExplainFailure& explain, ProgramPlan& plan, Failure& failure) {
  return Planner(entry, kernels, explain, plan, failure).run(function);
}

} // namespace nocturne::compiler
