// What generated code may need at link time beside libc and libm.
#pragma once

#include <string>
#include <vector>

namespace nocturne::compiler {

// Paths of archives; empty where the machine has none of them, which only matters to code for
// processors without half-precision instructions.
std::vector<std::string> runtimeLibraries();

} // namespace nocturne::compiler
