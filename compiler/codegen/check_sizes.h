// Tensors that no machine has room for.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include "engine/error.h"

namespace nocturne::compiler {

// Fails (unsupported_op, with the place) for a tensor of more bytes than addresses reach: where its
// size does not fit into 64 bits, compiled code would ask for the little that is left of it.
mlir::LogicalResult checkSizes(mlir::ModuleOp module, Failure& failure);

} // namespace nocturne::compiler
