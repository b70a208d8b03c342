// Files that appear complete or not at all.
#pragma once

#include <string>
#include <string_view>

namespace nocturne {

// Writes to a hidden file in the directory of the target; commit() makes it durable and renames it
// over the target. Without commit() the draft is thrown away and the target stays as it was.
// Everything but the destructor throws StorageError. One thread at a time.
class AtomicFile {
public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();

private:
  void flush();
  std::string path_;
  std::string draft_;
  int descriptor_ = -1;
  std::string buffer_;
};

// The whole content at once.
void writeFileAtomically(const std::string& path, std::string_view content);

// Makes a directory and its parents; one that exists is fine. Throws StorageError.
void makeDirectories(const std::string& path);

} // namespace nocturne
