// Where an operation stands, as far as MLIR's locations tell.
#pragma once

#include <optional>

#include "mlir/IR/Location.h"

namespace nocturne::compiler {

// The first file location inside names, call sites and fusions; absent for unknown locations.
std::optional<mlir::FileLineColLoc> fileLocation(mlir::Location location);

} // namespace nocturne::compiler
