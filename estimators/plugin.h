// How a shared library offers estimators:
//
//   static void registerMine(nocturne::EstimatorRegistry& registry) { registry.add<Mine>(); }
//   NOCTURNE_PLUGIN("1.2", registerMine)
//
// It is loaded with --plugin, or by "plugins" of a specification. docs/estimators.md has the whole
// story.
#pragma once

#include "estimators/abi.h"
#include "estimators/estimator.h"

namespace nocturne {

// What nocturne_plugin() returns; it stays valid while the library is loaded.
struct PluginEntry {
  const char* abi;   // kPluginAbi of the headers it was compiled with
  const char* build; // free text, for people
  void (*registerEstimators)(EstimatorRegistry& registry);
};

} // namespace nocturne

#define NOCTURNE_PLUGIN(BUILD, FUNCTION)                                                           \
  extern "C" __attribute__((visibility("default"))) const nocturne::PluginEntry*                   \
  nocturne_plugin() {                                                                              \
    static const nocturne::PluginEntry entry{nocturne::kPluginAbi, BUILD, FUNCTION};               \
    return &entry;                                                                                 \
  }
