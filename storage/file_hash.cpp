#include "storage/file_hash.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/error.h"

namespace nocturne {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& message) {
  throw ItemError(Failure{FailureKind::Unreadable, message, path, 0, 0});
}

class Descriptor {
public:
  // O_NONBLOCK: a pipe shall be refused, not waited for.
  explicit Descriptor(const std::string& path)
      : value_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (value_ >= 0)
      ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value() const { return value_; }

private:
  int value_;
};

uint64_t sizeOf(const std::string& path, int descriptor, uint64_t limit) {
  struct stat facts;
  if (::fstat(descriptor, &facts) != 0)
    fail(path, std::string("cannot read this file: ") + std::strerror(errno));
  if (S_ISDIR(facts.st_mode))
    fail(path, "is a directory");
  if (!S_ISREG(facts.st_mode))
    fail(path, "is not a regular file");
  auto size = static_cast<uint64_t>(facts.st_size);
  if (size > limit)
    fail(path, "is too large: " + std::to_string(size) + " bytes, at most " +
                   std::to_string(limit) + " are read");
  return size;
}

} // namespace

FileContent readFile(const std::string& path, uint64_t limit) {
  Descriptor file(path);
  if (file.value() < 0)
    fail(path, std::string("cannot open this file: ") + std::strerror(errno));
  FileContent content;
  content.bytes.resize(sizeOf(path, file.value(), limit));
  size_t have = 0;
  while (have < content.bytes.size()) {
    ssize_t got = ::read(file.value(), content.bytes.data() + have, content.bytes.size() - have);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      fail(path, std::string("cannot read this file: ") + std::strerror(errno));
    if (got == 0)
      break; // it has become shorter: what is there is hashed, so nothing wrong is remembered
    have += static_cast<size_t>(got);
  }
  content.bytes.resize(have);
  content.contentHash = hashBytes(content.bytes);
  return content;
}

} // namespace nocturne
