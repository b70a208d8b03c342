// The files of builds: where they are, how they appear, and whether they are what they were.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "compiler/drivers/build_lock.h"
#include "compiler/drivers/manifest.h"

namespace nocturne::compiler {

// Of one folder of a caller:
//   lib.so, manifest.json            links to the build that was asked for last
//   .nocturne/<key>/                 one build; appears whole by a rename and never changes
//   .nocturne/tmp/<key>.<pid>.<n>/   a build that is being made, or one whose builder died
//   .nocturne/locks/<key>            never unlinked, or two could hold one lock
class ArtifactPaths {
public:
  explicit ArtifactPaths(std::string outputDir);

  const std::string& outputDir() const { return outputDir_; }
  std::string folder(const Digest& key) const { return state_ + key.hex(); }
  std::string drafts() const { return state_ + "tmp"; }
  std::string lock(std::string_view name) const { return (state_ + "locks/").append(name); }
  // What a link in the caller's folder says.
  static std::string linkText(const Digest& key, std::string_view file);
  // Throws StorageError.
  void makeFolders() const;

private:
  std::string outputDir_; // absolute
  std::string state_;     // outputDir/.nocturne/
};

// A folder for a build in the making. The destructor removes it with all that is in it. What cannot
// be made, written, made durable or published throws StorageError.
class DraftFolder {
public:
  DraftFolder(const ArtifactPaths& paths, const Digest& key);
  ~DraftFolder();
  DraftFolder(const DraftFolder&) = delete;
  DraftFolder& operator=(const DraftFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return (path_ + '/').append(name); }
  void write(std::string_view name, std::string_view content) const;
  // Makes all files and the folder itself durable.
  void sync() const;
  // Becomes `folder`. One that is there is exchanged with it and removed: who has files of it open
  // or mapped keeps them.
  void publish(const std::string& folder) const;

private:
  std::string path_;
};

// Removes what builders left that died: drafts of keys that nobody holds. The caller holds `key`.
void removeDeadDrafts(const ArtifactPaths& paths, const Digest& key, BuildLocks& locks);

// The links of the caller's folder lead to this build already.
bool hasLinks(const ArtifactPaths& paths, const Manifest& manifest);
// Lets them, each by one rename, the manifest's last. The caller holds the lock "links". Throws
// StorageError.
void setLinks(const ArtifactPaths& paths, const Manifest& manifest);

// Finds builds. Remembers which files it has checked byte by byte, so that an unchanged one is
// checked again by its status only. Thread-safe.
class ArtifactCheck {
public:
  // The manifest of a build that is whole, or nothing.
  std::shared_ptr<const Manifest> find(const std::string& folder, const Digest& key, bool byDigest);
  void forget(const std::string& folder);

private:
  // A file that is written to gets another time of change, whatever is done to its other times.
  struct Stamp {
    uint64_t device = 0, inode = 0, bytes = 0;
    int64_t modified = 0, changed = 0; // nanoseconds
    bool operator==(const Stamp&) const = default;
  };
  struct Entry {
    Stamp library, manifestFile;
    std::shared_ptr<const Manifest> manifest;
  };
  static std::optional<Stamp> stampOf(const std::string& path);
  static std::optional<Entry> check(const std::string& folder, const Digest& key);

  std::mutex mutex_;
  std::unordered_map<std::string, Entry> checked_; // guarded by mutex_
};

} // namespace nocturne::compiler
