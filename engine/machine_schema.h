// What a machine may say, and how a value of it is addressed.
#pragma once

#include <string>
#include <string_view>

#include "engine/hardware.h"

namespace nocturne {

inline constexpr std::string_view kComputeScale = "compute_scale";
inline constexpr std::string_view kBandwidthScale = "bandwidth_scale";
inline constexpr std::string_view kRateTable = "per_datatype_flops";

// True for keys that estimators may take; the others only inform.
bool isMachineNumber(std::string_view key);
// True for names of element types, as the module table has them, and for hespas' si8, si32, ...
bool isRateName(std::string_view text);

// Checks a value set or swept at `path` (a machine key, an entry of the table, a scale) and returns
// it converted. An axis must be a number. Throws UsageError without pointer.
Json checkedMachineValue(std::string_view path, const Json& value);
// Throws UsageError without pointer when there is no such path. `axis`: it must lead to a number.
void checkMachinePath(std::string_view path, bool axis);

// The machine without what only informs: the numbers that estimators may take.
Json machineNumbers(const Machine& machine);

} // namespace nocturne
