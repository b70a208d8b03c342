// What a result depends on, as digests.
#include <algorithm>

#include "engine/module.h"
#include "engine/sweep_plan.h"

namespace nocturne {

namespace {

// Changes when the make-up of the keys does.
constexpr uint64_t kKeySchema = 1;
constexpr size_t kModuleBytes = 8;

} // namespace

Digest configurationDigest(const EstimatorDescription& estimator, const Json& resolvedOptions,
                           const std::string& readerText) {
  Hasher hasher;
  hasher.field("nocturne configuration").number(kKeySchema);
  hasher.number(kModuleTableVersion).field(readerText);
  hasher.field(estimator.name).number(estimator.wholeModule ? 1 : 0).field(estimator.environment);
  hasher.number(estimator.versions.size());
  for (const auto& [name, version] : estimator.versions)
    hasher.field(name).number(version);
  hasher.field(influencingText(estimator.options, resolvedOptions));
  return hasher.finish();
}

Digest resultKey(const Digest& configuration, const Digest& module) {
  Digest mixed = Hasher().field(configuration).field(module).finish();
  Digest key = module;
  std::copy(mixed.bytes.begin() + kModuleBytes, mixed.bytes.end(),
            key.bytes.begin() + kModuleBytes);
  return key;
}

} // namespace nocturne
