// The checks of a plan's entries, shared by the reading of a specification and by validate().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/sweep_plan.h"

namespace nocturne {

// Why an estimator's option may not be given in a sweep, "" when it may: a sweep has one cache, so
// that cache_dir, disable_cache and in_memory_only_cache of an estimator would do nothing.
std::string cacheOptionProblem(std::string_view path);

// Paths and values of `set` and `grid` fit the estimator. Throws UsageError with the pointer of
// what does not.
void checkEntry(const EstimatorEntry& entry, const EstimatorDescription& estimator);

// The same for a machine; values become numbers. The name is not looked at.
void normaliseEntry(HardwareEntry& entry);

// All of validate() but the options that nobody gives: the command line may still give them.
void checkEntries(const SweepPlan& plan, const EstimatorLookup& lookup);

// The machine's numbers at one place of the entry's grid, scales applied.
Json machineAt(const HardwareEntry& entry, const std::vector<size_t>& places);

// What the entry gives the estimator at one place of its grid.
Json givenAt(const EstimatorEntry& entry, const std::vector<size_t>& places,
             const EstimatorDescription& estimator, const Json& machine);

// The complete options; a UsageError names the machine.
Json resolvedAt(const EstimatorEntry& entry, const std::vector<size_t>& places,
                const EstimatorDescription& estimator, const Json& machine,
                const std::string& machineName);

// Remarks on settings that are allowed but may not do what their author expects.
std::vector<std::string> remarks(const SweepPlan& plan, const EstimatorLookup& lookup);

} // namespace nocturne
