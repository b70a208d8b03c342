// Calls where only operations may be.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace nocturne::compiler {

// Functions that are applied to elements, as those of reduce and sort are, may call others;
// lowering takes them apart operation by operation, so the bodies of what they call take the calls'
// places. Calls that would never end stay, for lowering to refuse.
void inlineRegionCalls(mlir::ModuleOp module);

} // namespace nocturne::compiler
