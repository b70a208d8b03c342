// Object files to shared libraries.
#pragma once

#include <string>

namespace nocturne::compiler {

// Links the object file at `object` to a shared library at `library` that needs libc and libm at
// most. Throws ItemError (tool_failed) when there is no linker, or when symbols stay undefined.
void linkShared(const std::string& object, const std::string& library);

} // namespace nocturne::compiler
