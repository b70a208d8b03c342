#include "engine/kernel_builder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nocturne {

namespace {

double medianOfSorted(const std::vector<double>& values) {
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

} // namespace

void setTimes(Measurement& measurement, std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  measurement.samples = samples.size();
  measurement.least = samples.front();
  measurement.median = medianOfSorted(samples);
  measurement.mean =
      std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
  for (double& sample : samples)
    sample = std::abs(sample - measurement.median);
  std::sort(samples.begin(), samples.end());
  measurement.spread = medianOfSorted(samples);
}

} // namespace nocturne
