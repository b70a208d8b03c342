// What code generation needs of MLIR and LLVM beyond the dialects themselves.
#pragma once

#include "mlir/IR/MLIRContext.h"

namespace nocturne::compiler {

// Gives `context` the dialects of the lowered levels and the interfaces through which the passes of
// pipeline.h treat them. Harmless when repeated.
void registerCodegen(mlir::MLIRContext& context);

// LLVM's code generators for X86 and NVPTX; the first call does it, from any thread.
void initialiseTargets();

} // namespace nocturne::compiler
