// StableHLO to linalg on tensors.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include "engine/error.h"

namespace nocturne::compiler {

// Lowers every function of `module` in place to func, linalg, tensor, arith, math, complex and scf.
// On failure `failure` says which operation has no lowering (kind UnsupportedOp) and where; the
// module is then in no usable state.
mlir::LogicalResult lowerToLinalg(mlir::ModuleOp module, Failure& failure);

// Part of every key of what is built: raised whenever generated code can change.
constexpr unsigned kLoweringVersion = 2;

} // namespace nocturne::compiler
