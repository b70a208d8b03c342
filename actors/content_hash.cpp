#include "actors/content_hash.h"

#include <array>
#include <cerrno>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nocturne {

namespace {

constexpr size_t kPiece = 256 * 1024;

class OpenFile {
public:
  // Not blocking, so that a pipe among the files cannot hold up the run.
  explicit OpenFile(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  OpenFile(const OpenFile&) = delete;
  ~OpenFile() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  int fd() const { return fd_; }

private:
  int fd_;
};

std::string reason(const char* what) {
  return std::string(what) + ": " + std::error_code(errno, std::generic_category()).message();
}

} // namespace

FileInfo hashFile(const std::string& path) {
  FileInfo info;
  OpenFile file(path);
  struct stat status;
  if (file.fd() < 0 || ::fstat(file.fd(), &status) != 0) {
    info.error = reason("cannot open the file");
    return info;
  }
  if (!S_ISREG(status.st_mode)) {
    info.error = "not a regular file";
    return info;
  }
  // Small files, the most of them, fit into what is on the stack.
  std::array<char, 16 * 1024> small;
  std::unique_ptr<char[]> large;
  char* buffer = small.data();
  size_t capacity = small.size();
  if (static_cast<size_t>(status.st_size) > capacity) {
    large = std::make_unique_for_overwrite<char[]>(kPiece);
    buffer = large.get();
    capacity = kPiece;
  }
  Hasher hasher;
  ssize_t got = 0;
  while ((got = ::read(file.fd(), buffer, capacity)) > 0) {
    hasher.raw({buffer, static_cast<size_t>(got)});
    info.bytes += static_cast<uint64_t>(got);
  }
  if (got < 0)
    info.error = reason("cannot read the file");
  info.contentHash = hasher.finish();
  return info;
}

} // namespace nocturne
