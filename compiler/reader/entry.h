// Which functions a module starts from.
#pragma once

#include <string>

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

#include "engine/module.h"

namespace nocturne::compiler {

// The symbol of a function; one without a body is only declared.
llvm::StringRef functionName(mlir::Operation* function);
bool isFunction(mlir::Operation* op);

// `wanted` if given; else `main`; else the only public function; else all public functions in
// order, which is noted in `assumptions`. Functions without a body do not count, functions of
// nested modules do. On failure says why.
mlir::LogicalResult findEntries(mlir::ModuleOp module, const std::string& wanted,
                                llvm::SmallVectorImpl<mlir::Operation*>& entries,
                                std::vector<Assumption>& assumptions, std::string& problem);

} // namespace nocturne::compiler
