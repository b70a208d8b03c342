#include "compiler/codegen/optimize_memory.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace nocturne::compiler {

using namespace mlir;

BufferBase baseOf(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  // Functions are called with buffers of which those that are written are shared with none.
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return {buffer, isa<func::FuncOp>(argument.getOwner()->getParentOp())};
  return {buffer,
          isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(buffer.getDefiningOp())};
}

bool mayOverlap(Value a, Value b) {
  const BufferBase first = baseOf(a), second = baseOf(b);
  return !first.known || !second.known || first.buffer == second.buffer;
}

bool usesOnlyOperands(linalg::LinalgOp op) {
  return llvm::all_of(*op.getBlock(), [](Operation& inner) { return isMemoryEffectFree(&inner); });
}

} // namespace nocturne::compiler
