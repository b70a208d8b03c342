// linalg on tensors in the form that kernels are made from.
#pragma once

#include <memory>

#include "mlir/Pass/PassManager.h"

namespace nocturne::compiler {

// Every structured operation becomes a linalg.generic.
std::unique_ptr<mlir::Pass> createGeneralizePass();

// A number that an operation takes from outside its body, such as the initial value of a reduction,
// is computed in the body, because the host cannot read tensors of the device.
std::unique_ptr<mlir::Pass> createSinkScalarsPass();

// From linalg on tensors to buffers.
void addDevicePipeline(mlir::OpPassManager& passes);

} // namespace nocturne::compiler
