// Optimisations of linalg on tensors, before it gets buffers.
#pragma once

#include "mlir/Pass/PassManager.h"

#include "compiler/codegen/target.h"

namespace nocturne::compiler {

void addOptimisations(mlir::OpPassManager& passes, const CpuTarget& target);

} // namespace nocturne::compiler
