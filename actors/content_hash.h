// The size and content hash of a file.
#pragma once

#include "actors/work.h"

namespace nocturne {

// Reads the file in pieces, so that a large one takes no memory. What goes wrong is in `error`.
FileInfo hashFile(const std::string& path);

} // namespace nocturne
