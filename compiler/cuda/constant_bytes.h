// Elements as they lie in memory.
#pragma once

#include <cstdint>
#include <string>

#include "mlir/IR/BuiltinAttributes.h"

namespace nocturne::compiler {

// Of one element: narrower ones than a byte take a byte.
uint32_t elementBytes(mlir::Type element);

// Appends the elements of a constant, little-endian and row-major. Returns false for elements that
// have no such form.
bool appendElements(mlir::ElementsAttr elements, std::string& bytes);

} // namespace nocturne::compiler
