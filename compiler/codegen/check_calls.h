// Calls that would never come to an end, or lead nowhere.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include "engine/error.h"

namespace nocturne::compiler {

// Before anything is lowered, because passes that inline calls suppose all of this. Fails, with the
// place, for functions that call each other in a circle (unreadable), for calls of functions
// without a body, for modules in modules, and when the calls stand for more operations than can be
// compiled (unsupported_op).
mlir::LogicalResult checkCalls(mlir::ModuleOp module, Failure& failure);

} // namespace nocturne::compiler
