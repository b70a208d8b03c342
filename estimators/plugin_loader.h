// Loads estimators from shared libraries.
#pragma once

#include <string>

#include "estimators/registry.h"

namespace nocturne {

// Adds the estimators of a plug-in (see plugin.h) to the registry, which keeps the library loaded.
// The digest of the file becomes part of the keys of their results. Throws UsageError that names
// the file and the reason: not a library, no plug-in, compiled against other headers, or a
// declaration that the registry refuses.
void loadPlugin(const std::string& path, EstimatorRegistry& registry);

} // namespace nocturne
