// How a module is tiled, fused and made to vectors, said from outside in MLIR's transform dialect.
#pragma once

#include <string>

#include "mlir/IR/BuiltinOps.h"

#include "engine/error.h"

namespace nocturne::compiler {

// Applies a schedule to a module of linalg on tensors: `text` is a module with the attribute
// transform.with_named_sequence whose sequence @__transform_main gets the module. A schedule can be
// wrong like any program: what it leaves is verified, but nothing shows that it computes the same.
// Fails with kind BadConfig, the place being one in the schedule where there is one.
mlir::LogicalResult applySchedule(mlir::ModuleOp module, const std::string& text, Failure& failure);

} // namespace nocturne::compiler
