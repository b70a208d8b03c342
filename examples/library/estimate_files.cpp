// Estimates StableHLO files one after the other: estimate_files PEAK_FLOPS BANDWIDTH FILE...
// Results are kept in the folder "estimates"; a second call reads them from there.
#include <cstdio>
#include <exception>

#include "actors/standalone.h"
#include "estimators/registry.h"

int main(int count, char** words) {
  using namespace nocturne;
  if (count < 4) {
    std::fprintf(stderr, "usage: %s PEAK_FLOPS BANDWIDTH FILE...\n", words[0]);
    return 1;
  }
  try {
    EstimatorRegistry registry;
    registerBuiltins(registry);
    const Services services = standalone();
    // A configuration object, and two of its options given by name.
    const Json config = {{"cache_dir", "estimates"}};
    const Json overrides = {{"peak_flops", words[1]}, {"memory_bandwidth", words[2]}};
    const auto estimator = registry.make("roofline", config, overrides, services);
    for (int i = 3; i < count; ++i) {
      const ModulePtr module = services.reader->read(words[i]);
      const EstimatorResult result = estimator->getEstimate(*module);
      std::printf("%s: %.3f us%s\n", words[i], result.runtime.value_or(0) * 1e6,
                  result.fromCache ? ", from the cache" : "");
    }
    estimator->writeCache();
    std::printf("%s", estimator->getStatistics().toText({"modules_processed", "runtime"}).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
