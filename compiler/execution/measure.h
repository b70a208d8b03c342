// Measuring code in this process.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "engine/kernel_builder.h"

namespace nocturne::compiler {

// Builds the module in the folder of the request, or takes what is there, and times its function in
// this thread, which stays on one processor for as long. The arguments have random values and every
// call works on the same ones. `onStage` is told kBuilding and kRunning. Throws ItemError,
// UsageError (arch, entry, sizes), StorageError.
Measurement measureModule(const MeasureRequest& request,
                          const std::function<void(std::string_view stage)>& onStage);

// Calls `call` as the request says and gives the seconds of one call for each sample, of which
// there is at least one. A sample is several calls, `callsPerSample`, when one is too short for the
// clock.
std::vector<double> takeSamples(const std::function<void()>& call, const MeasureRequest& request,
                                uint64_t& callsPerSample);

// The process that measures: does what the text of a request asks for and says how it goes line by
// line.
void answerMeasureRequest(std::string_view request,
                          const std::function<void(std::string_view line)>& say);

} // namespace nocturne::compiler
