// Which files a pattern means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/sweep_plan.h"

namespace nocturne {

// One component of a path: * is any text, ? one character, [a-z] or [!a-z] one of a set; \ takes
// the next character as it is. A leading dot is matched only by a dot.
bool matchesComponent(std::string_view pattern, std::string_view name);

// The files of one file, folder or pattern, names sorted bytewise. Throws UsageError (without
// pointer) when there are none.
std::vector<ModuleFile> expandPattern(const std::string& pattern, const std::string& directory);

} // namespace nocturne
