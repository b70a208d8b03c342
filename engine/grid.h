// The values of one axis, as a specification writes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/sweep_plan.h"

namespace nocturne {

// More values than this on one axis are a slip of the pen.
inline constexpr int64_t kMaximumSteps = 100000;

// `steps` numbers from `from` to `to`, both exact. The formulas use only operations that IEEE 754
// rounds the same way everywhere, so that a plan has the same points on every machine.
std::vector<double> linearSteps(double from, double to, int64_t steps);
std::vector<double> logarithmicSteps(double from, double to, int64_t steps); // from, to > 0

// An array of values, or {"from", "to", "steps", "scale"}. Throws UsageError at `pointer` or below.
std::vector<Json> axisValues(const Json& json, const std::string& pointer);

// Number of combinations. Throws UsageError when there are more than a plan may have.
uint64_t combinations(const std::vector<Axis>& grid, const std::string& pointer);
// Place of each axis in combination `index`, last axis fastest.
std::vector<size_t> axisPlaces(const std::vector<Axis>& grid, uint64_t index);

} // namespace nocturne
