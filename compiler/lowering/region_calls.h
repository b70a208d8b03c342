// Functions called from computations on elements.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace nocturne::compiler {

// Puts the callee's operations in place of each call inside of a reducer, comparator or another
// region that is applied to elements; such regions are understood operation by operation. Fails
// with an error at a call without a callee, and at one that calls itself.
mlir::LogicalResult inlineRegionCalls(mlir::ModuleOp module);

} // namespace nocturne::compiler
