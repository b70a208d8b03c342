// What is known of the dialects that StableHLO files mention beside StableHLO's own.

#pragma once

#include "mlir/IR/Dialect.h"

namespace nocturne::foreign {

// The parser of one operation's custom form (`name` with its dialect), or null where the general
// one will do.
mlir::Dialect::ParseOpHook findParser(llvm::StringRef name);

// MHLO's attributes and types that are StableHLO's under an older name; null for all others.
mlir::Attribute translateAttribute(llvm::StringRef dialect, llvm::StringRef spec,
                                   mlir::MLIRContext* context);
mlir::Type translateType(llvm::StringRef dialect, llvm::StringRef spec, mlir::MLIRContext* context);

} // namespace nocturne::foreign
