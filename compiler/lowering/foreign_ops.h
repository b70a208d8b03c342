// Operations of neighbouring dialects that StableHLO has as well.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace nocturne::compiler {

// Operations of MHLO, StableHLO's predecessor, and constants of CHLO and Shardy become those of
// StableHLO or CHLO that mean the same, in place. The reader does so for MHLO's short form; this is
// for the generic form, which it keeps as written.
void adoptForeignOps(mlir::ModuleOp module);

} // namespace nocturne::compiler
