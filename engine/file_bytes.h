// Reading files whose content matters: modules. The bytes, or only their hash.
#pragma once

#include <cstdint>
#include <string>

#include "engine/digest.h"

namespace nocturne {

inline constexpr uint64_t kMaxFileBytes = uint64_t{2} << 30;

// All of these read regular files only, and throw ItemError (unreadable, with the path as its
// place) for one that is missing, not a file, not permitted or larger than `limit`.
std::string readFile(const std::string& path, uint64_t limit = kMaxFileBytes);

struct HashedFile {
  uint64_t bytes = 0;
  Digest contentHash;
};
// Reads in pieces, so that a large file takes no memory.
HashedFile hashFile(const std::string& path, uint64_t limit = kMaxFileBytes);

// The file has this content. False for one that cannot be read.
bool hasContent(const std::string& path, const Digest& contentHash);

} // namespace nocturne
