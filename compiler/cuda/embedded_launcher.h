// The launcher as an object file, compiled with the product and carried in it.
#pragma once

#include <string_view>

namespace nocturne::compiler {

std::string_view embeddedLauncher();

} // namespace nocturne::compiler
