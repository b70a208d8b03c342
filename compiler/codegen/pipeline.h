// The passes between linalg on tensors and the LLVM dialect.
#pragma once

#include "mlir/Pass/PassManager.h"

#include "compiler/codegen/compile_options.h"

namespace nocturne::compiler {

// The pipeline is run in these pieces so that what each made can be kept.

// Inlining alone; tensors stay.
void addInliningPipeline(mlir::OpPassManager& passes);
// Inlining and optimisation; tensors stay.
void addTensorPipeline(mlir::OpPassManager& passes);
// Tensors become buffers, results become arguments behind the others; linalg stays. For every
// target.
void addBufferization(mlir::OpPassManager& passes);
// The same, and loops take linalg's place.
void addBufferPipeline(mlir::OpPassManager& passes, const CompileOptions& options);
// Loops take the place of vectors of several dimensions, which only schedules make.
void addVectorPipeline(mlir::OpPassManager& passes);
// Loops and buffers become the LLVM dialect.
void addLlvmPipeline(mlir::OpPassManager& passes);

// Copies between buffers that are not both dense become linalg operations, because MLIR's own way
// is a call into its run-time library.
std::unique_ptr<mlir::Pass> createExpandStridedCopiesPass();

} // namespace nocturne::compiler
