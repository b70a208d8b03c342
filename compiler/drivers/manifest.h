// What vouches for a built folder. docs/compiled_modules.md has the schema.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/drivers/build_options.h"
#include "compiler/drivers/code_generator.h"
#include "engine/digest.h"

namespace nocturne::compiler {

inline constexpr int kManifestSchema = 1;
// Of the calling convention of entry points.
inline constexpr int kAbiVersion = 1;
inline constexpr std::string_view kManifestName = "manifest.json";

struct Manifest {
  Digest key;
  OutputKind kind = OutputKind::SharedLibrary;
  std::string target; // resolved
  std::string generator;
  std::string linker; // "" when nothing was linked
  std::vector<std::string> flags;
  std::vector<Digest> modules; // content hashes, in the order of linking
  std::vector<LibraryEntry> entries;
  std::vector<std::string> features; // what the processor must have
  std::string library;               // its file name
  uint64_t libraryBytes = 0;
  Digest libraryDigest;
  std::vector<std::string> files; // other files of the folder
  bool operator==(const Manifest&) const = default;
};

std::string toJson(const Manifest& manifest);
// `path` is for messages. Throws StorageError: Corrupt, or TooNew for a schema or calling
// convention that this version does not know.
Manifest parseManifest(std::string_view text, const std::string& path);
// The file of that name in `folder`. Throws ItemError (unreadable) for one that cannot be read.
Manifest readManifest(const std::string& folder);

} // namespace nocturne::compiler
