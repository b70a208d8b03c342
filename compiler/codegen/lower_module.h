// The part of compiling a module that does not depend on what it is compiled for.
#pragma once

#include <vector>

#include "mlir/IR/BuiltinOps.h"

#include "compiler/drivers/code_generator.h"
#include "engine/error.h"

namespace nocturne::compiler {

// From StableHLO to linalg on tensors. `entries` are those that readEntryPoints() found;
// `generateWeights` is as CompileOptions has it. A failure has the place where it cannot go on:
// kind UnsupportedOp for what has no lowering.
mlir::LogicalResult lowerModule(mlir::ModuleOp module, const std::vector<LibraryEntry>& entries,
                                bool generateWeights, Failure& failure);

} // namespace nocturne::compiler
