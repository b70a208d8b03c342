// Reading a module's file.
#pragma once

#include <cstdint>
#include <string>

#include "engine/digest.h"

namespace nocturne {

struct FileContent {
  std::string bytes;
  Digest contentHash;
};

inline constexpr uint64_t kMaxFileBytes = uint64_t{2} << 30;

// Reads a regular file. Throws ItemError (unreadable, with the path as its place) for one that is
// missing, not a file, not permitted or larger than `limit`.
FileContent readFile(const std::string& path, uint64_t limit = kMaxFileBytes);

} // namespace nocturne
