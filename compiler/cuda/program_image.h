// The block of bytes that a library carries, and the object file around it.
#pragma once

#include <string>
#include <vector>

#include "mlir/IR/MLIRContext.h"

#include "compiler/codegen/target.h"
#include "compiler/cuda/plan.h"
#include "compiler/drivers/code_generator.h"
#include "engine/error.h"

namespace nocturne::compiler {

// As launch_plan.h says.
std::string programImage(const ProgramPlan& plan, const std::string& ptx);

// An object file with `image`, and an entry point for each of `entries` that hands it to the
// launcher; it needs nocturne_cuda_call.
mlir::LogicalResult emitHostObject(mlir::MLIRContext& context, const std::string& image,
                                   const std::vector<LibraryEntry>& entries, const CpuTarget& host,
                                   std::string& object, Failure& failure);

} // namespace nocturne::compiler
