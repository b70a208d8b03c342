// The dialects a StableHLO file may name.

#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace nocturne {

// StableHLO itself, the upstream dialects found beside it, and the lenient stand-ins for foreign
// ones. For a context that also allows unregistered dialects.
void registerReadableDialects(mlir::DialectRegistry& registry);

} // namespace nocturne
