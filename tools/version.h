#pragma once

#include <string_view>

namespace nocturne::tools {

// "0.1.0": the project's version, as the build files have it.
std::string_view version();

} // namespace nocturne::tools
