// How long calls take, on a machine that others may use as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace nocturne::compiler {

struct TimingOptions {
  double warmUpSeconds = 0.02; // calls before the first sample, and one at least
  double sampleSeconds = 5e-4; // calls are repeated within a sample until it takes that long
  size_t repetitions = 31;     // samples
  double mostSeconds = 2;      // of all samples of a call; there are kLeastSamples in any case
};
inline constexpr size_t kLeastSamples = 5;

// Seconds of one call.
struct Timing {
  double median = 0, lower = 0, upper = 0; // with the quartiles
  size_t samples = 0;
  uint64_t callsPerSample = 0;
  size_t interrupted = 0; // samples in which the thread had to give its processor away

  // Half of the samples are as close to each other as this part of the median.
  double spread() const { return median > 0 ? (upper - lower) / median : 0; }
};

// Of at least one sample; the order does not matter.
Timing timingOf(std::vector<double> samples);

// Times calls that stay in this thread. Samples of several calls alternate, so that whatever
// changes the machine's speed meets them all. A sample is the time that passed, or the thread's
// time on its processor where that was taken away meanwhile.
std::vector<Timing> timeCalls(std::span<const std::function<void()>> calls,
                              const TimingOptions& options);

// The index of the smallest median; of those within `tie` of it the first.
size_t fastest(std::span<const Timing> timings, double tie);

// The processor at hand by its names and, shortened to a number, its features: what times are
// valid for.
std::string processorIdentity();

} // namespace nocturne::compiler
