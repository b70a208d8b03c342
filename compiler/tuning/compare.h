// Whether two ways of computing the same gave the same.
#pragma once

#include <optional>
#include <string>

#include "compiler/execution/tensor_data.h"

namespace nocturne::compiler {

// Two roundings of the element type, or 1024 of f32 and f64, with at most 2 % for types between.
double usualTolerance(const ElementFormat& format);

// Absent when `got` is as good as `wanted`, else how they differ. Integers and booleans have to be
// equal, NaN and infinities in the same places. Reals may be apart by `tolerance` times the element
// or the root of the mean square of all elements, whichever is larger: sums in another order err by
// what was summed, not by what is left of it.
std::optional<std::string> difference(const TensorData& got, const TensorData& wanted,
                                      std::optional<double> tolerance);

} // namespace nocturne::compiler
