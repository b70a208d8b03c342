// What generated code may need at link time beside libc and libm.
#pragma once

#include <string>
#include <vector>

namespace nocturne::compiler {

// Paths of archives that have what `object`, an ELF file, calls but libc and libm do not have.
// Empty when there is no such call, which is usual, and where the machine has no such archive,
// which only matters to code for processors without half-precision instructions.
std::vector<std::string> runtimeLibraries(const std::string& object);

} // namespace nocturne::compiler
