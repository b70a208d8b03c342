// One linalg operation on buffers as a kernel.
#pragma once

#include <cstdint>
#include <string>

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace nocturne::compiler {

constexpr uint32_t kThreadsPerBlock = 256;

struct Kernel {
  std::string name;
  llvm::SmallVector<mlir::Value> operands; // buffers of the host's function, in the kernel's order
  uint32_t blocks = 0;                     // 0: there is nothing to do
};

// Why an operation cannot become a kernel; "" when nothing was wrong.
using KernelProblem = std::string;

// Adds the kernel of `op` to `kernels`. One thread makes one element of the results: it runs over
// the reduced dimensions with the element in a register. Neighbouring threads make neighbours in
// the last dimension.
KernelProblem buildKernel(mlir::linalg::GenericOp op, mlir::gpu::GPUModuleOp kernels,
                          const std::string& name, Kernel& kernel);

} // namespace nocturne::compiler
