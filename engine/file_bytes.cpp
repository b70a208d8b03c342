#include "engine/file_bytes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/error.h"

namespace nocturne {

namespace {

// A file that is open for reading, and was found to be one.
class InputFile {
public:
  InputFile(const std::string& path, uint64_t limit)
      // Not blocking: a pipe shall be refused, not waited for.
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0)
      failSystem("cannot be opened");
    try {
      size_ = checkedSize(limit);
    } catch (...) {
      ::close(descriptor_);
      throw;
    }
  }
  ~InputFile() { ::close(descriptor_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // When it was opened. A file that is being written may have less by now: then what is left of it
  // is read and hashed, so that nothing wrong is remembered.
  uint64_t size() const { return size_; }

  // Fills the buffer as far as the file goes; fewer bytes mean its end.
  size_t read(char* buffer, size_t capacity) const {
    size_t have = 0;
    while (have < capacity) {
      ssize_t got = ::read(descriptor_, buffer + have, capacity - have);
      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        failSystem("cannot be read");
      if (got == 0)
        break;
      have += static_cast<size_t>(got);
    }
    return have;
  }

private:
  [[noreturn]] void fail(const std::string& message) const {
    throw ItemError(Failure{FailureKind::Unreadable, message, path_, 0, 0});
  }
  [[noreturn]] void failSystem(const char* what) const {
    fail(std::string(what) + ": " + std::generic_category().message(errno));
  }

  uint64_t checkedSize(uint64_t limit) const {
    struct stat facts;
    if (::fstat(descriptor_, &facts) != 0)
      failSystem("cannot be read");
    if (S_ISDIR(facts.st_mode))
      fail("is a directory");
    if (!S_ISREG(facts.st_mode))
      fail("is not a regular file");
    auto size = static_cast<uint64_t>(facts.st_size);
    if (size > limit)
      fail("is too large: " + std::to_string(size) + " bytes, at most " + std::to_string(limit) +
           " are read");
    return size;
  }

  const std::string& path_;
  const int descriptor_;
  uint64_t size_ = 0;
};

} // namespace

std::string readFile(const std::string& path, uint64_t limit) {
  InputFile file(path, limit);
  std::string bytes(file.size(), '\0');
  bytes.resize(file.read(bytes.data(), bytes.size()));
  return bytes;
}

HashedFile hashFile(const std::string& path, uint64_t limit) {
  constexpr size_t kPiece = 256 * 1024;
  InputFile file(path, limit);
  // Small files, the most of them, fit into what is on the stack.
  std::array<char, 16 * 1024> small;
  std::unique_ptr<char[]> large;
  char* buffer = small.data();
  size_t capacity = small.size();
  if (file.size() > capacity) {
    large = std::make_unique_for_overwrite<char[]>(kPiece);
    buffer = large.get();
    capacity = kPiece;
  }
  HashedFile hashed;
  Hasher hasher;
  for (uint64_t left = file.size(); left > 0;) {
    auto wanted = static_cast<size_t>(std::min<uint64_t>(left, capacity));
    size_t got = file.read(buffer, wanted);
    hasher.raw({buffer, got});
    hashed.bytes += got;
    left = got < wanted ? 0 : left - got;
  }
  hashed.contentHash = hasher.finish();
  return hashed;
}

bool hasContent(const std::string& path, const Digest& contentHash) {
  try {
    return hashFile(path).contentHash == contentHash;
  } catch (const ItemError&) {
    return false;
  }
}

} // namespace nocturne
