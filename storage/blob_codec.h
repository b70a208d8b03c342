// Texts and tables as they lie in a database.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nocturne {

// A blob is one byte that says how the rest is written: 'r', the bytes as they are, or 'z', their
// length (8 bytes, little endian) and a zlib stream of level 1. Short blobs and those that do not
// shrink stay as they are.
std::string encodeBlob(std::string_view bytes);
// Throws Error when the blob was not made by encodeBlob.
std::string decodeBlob(std::string_view blob);

} // namespace nocturne
