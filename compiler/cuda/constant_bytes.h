// Constants as they lie in memory.
#pragma once

#include <string>

#include "mlir/IR/BuiltinAttributes.h"

namespace nocturne::compiler {

// Appends the elements of a constant, little-endian and row-major. Returns false for elements that
// have no such form.
bool appendElements(mlir::ElementsAttr elements, std::string& bytes);

} // namespace nocturne::compiler
