// From the LLVM dialect to machine code.
#pragma once

#include <string>

#include "mlir/IR/BuiltinOps.h"

#include "compiler/codegen/target.h"
#include "engine/error.h"

namespace nocturne::compiler {

inline constexpr const char* kCpuTriple = "x86_64-unknown-linux-gnu";

struct ObjectOptions {
  CpuTarget target;
  unsigned level = 3;      // of LLVM's optimisation, 0 to 3
  bool keepLlvmIr = false; // fill EmittedObject::llvmIr
};

struct EmittedObject {
  std::string bytes;  // ELF, position independent
  std::string llvmIr; // optimised
};

// Translates `module`, which has operations of the LLVM dialect only, optimises it and emits an
// object file. It refers to functions of libc, libm and libgcc and to nothing else.
mlir::LogicalResult emitObject(mlir::ModuleOp module, const ObjectOptions& options,
                               EmittedObject& emitted, Failure& failure);

} // namespace nocturne::compiler
