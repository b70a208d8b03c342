// How compiled functions are called from outside: see LibraryEntry.
//
// Elements narrower than a byte take a byte each (the upper bits zero), all others their own size.
// Results may overlap neither inputs nor each other; every address has the alignment of its element
// type.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

#include "compiler/drivers/code_generator.h"
#include "engine/error.h"

namespace nocturne::compiler {

// `prefix` and `name`, with an underscore and the hexadecimal code for every byte that C does not
// allow in names.
std::string cSymbol(const std::string& prefix, const std::string& name);

// Of one element in memory.
uint32_t elementBytes(mlir::Type element);

// Arguments that values of these types take: each value in a tuple is passed on its own.
size_t argumentCount(mlir::TypeRange types);

// Reads the entry points of a StableHLO module: its public functions. Fails for a signature that
// has no form in memory, such as one with dynamic extents.
mlir::LogicalResult readEntryPoints(mlir::ModuleOp module, const std::string& prefix,
                                    std::vector<LibraryEntry>& entries, Failure& failure);

// Before lowering: moves all functions out of the way of C's names, which lowering calls.
mlir::LogicalResult renameFunctions(mlir::ModuleOp module, Failure& failure);

// After lowering to linalg: drops attributes that only frameworks know and keeps inputs from being
// overwritten.
mlir::LogicalResult prepareFunctions(mlir::ModuleOp module,
                                     const std::vector<LibraryEntry>& entries, Failure& failure);

// After lowering to the LLVM dialect: adds the entry points; all other symbols become internal.
mlir::LogicalResult emitEntryPoints(mlir::ModuleOp module, const std::vector<LibraryEntry>& entries,
                                    Failure& failure);

} // namespace nocturne::compiler
