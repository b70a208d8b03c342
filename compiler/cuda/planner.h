// From a function on buffers to its plan.
#pragma once

#include <functional>
#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include "compiler/cuda/plan.h"
#include "compiler/drivers/code_generator.h"
#include "engine/error.h"

namespace nocturne::compiler {

// A failure for an operation that cannot be run on a device, for the reason given.
using ExplainFailure = std::function<Failure(mlir::Operation*, const std::string& reason)>;

// Turns `function`, which works on buffers, into the plan of `entry`, and its linalg operations
// into functions of `kernels`. The buffers of results are its last arguments.
mlir::LogicalResult planEntry(mlir::func::FuncOp function, const LibraryEntry& entry,
                              mlir::gpu::GPUModuleOp kernels, const ExplainFailure& explain,
                              ProgramPlan& plan, Failure& failure);

} // namespace nocturne::compiler
