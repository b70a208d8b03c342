// Names of machines: templates with a placeholder for each axis value.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/sweep_plan.h"

namespace nocturne {

// An axis value as it stands in a name: numbers in their shortest form, text without quotes.
std::string axisText(const Json& value);

// The name of one machine of the entry; `places` as axisPlaces() gives them.
std::string machineName(const HardwareEntry& entry, std::span<const size_t> places);

// For an entry without a name of its own: the base, what is set, then "-axis{axis}" for each axis.
std::string defaultNameTemplate(const HardwareEntry& entry);

// Throws UsageError for an unknown placeholder and when two machines of the plan have one name; the
// message then names the axis to add. Names are only enumerated where their form proves nothing.
void checkMachineNames(const std::vector<HardwareEntry>& entries);

} // namespace nocturne
