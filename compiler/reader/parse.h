// Text to verified IR in a context of its own.
#pragma once

#include <memory>
#include <string>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include "engine/error.h"

namespace nocturne::compiler {

// A module with the context that owns everything in it; members die in the right order.
struct ParsedModule {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

// Parses and verifies `text` (already scanned), with `path` as the file of its locations. Nothing
// is printed: on failure the first error becomes `failure`.
mlir::LogicalResult parseModule(const std::string& text, const std::string& path,
                                ParsedModule& parsed, Failure& failure);

// The same for a text as it was read: scanText() comes first.
mlir::LogicalResult scanAndParse(std::string text, const std::string& path, ParsedModule& parsed,
                                 Failure& failure);

} // namespace nocturne::compiler
