// Kernels to PTX, by LLVM's code generator for it.
#pragma once

#include <string>

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include "compiler/cuda/cuda_target.h"
#include "compiler/cuda/planner.h"

namespace nocturne::compiler {

// Lowers the functions of `kernels` to the LLVM dialect. There is no library of mathematics to
// link: functions of f32, and of f16 and bf16 in f32, become polynomials; those of f64 that devices
// have no instruction for are a failure.
mlir::LogicalResult lowerKernels(mlir::gpu::GPUModuleOp kernels, const ExplainFailure& explain,
                                 Failure& failure);

// `kernels` is lowered. Gives "" for a module without functions.
mlir::LogicalResult emitPtx(mlir::gpu::GPUModuleOp kernels, const CudaTarget& target,
                            unsigned level, std::string& ptx, Failure& failure);

} // namespace nocturne::compiler
