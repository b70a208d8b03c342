// Reading a file as a whole.
#pragma once

#include <string>

namespace nocturne::compiler {

// Returns "" and the bytes, or why the file cannot be read.
std::string readFileBytes(const std::string& path, std::string& bytes);

} // namespace nocturne::compiler
