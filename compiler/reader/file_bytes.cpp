#include "compiler/reader/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace nocturne::compiler {

namespace {

struct OpenFile {
  int descriptor;
  ~OpenFile() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
};

std::string because(const char* what) {
  return std::string(what) + ": " + std::strerror(errno);
}

} // namespace

std::string readFileBytes(const std::string& path, std::string& bytes) {
  // Not blocking: opening a pipe that nobody writes to would wait for ever.
  OpenFile file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.descriptor < 0)
    return because("cannot be opened");
  struct stat status;
  if (::fstat(file.descriptor, &status) != 0)
    return because("cannot be read");
  if (S_ISDIR(status.st_mode))
    return "is a directory";
  if (!S_ISREG(status.st_mode))
    return "is not a regular file";
  bytes.resize(static_cast<size_t>(status.st_size));
  size_t filled = 0;
  while (filled < bytes.size()) {
    ssize_t count = ::read(file.descriptor, bytes.data() + filled, bytes.size() - filled);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return because("cannot be read");
    if (count == 0)
      break;
    filled += static_cast<size_t>(count);
  }
  // Shorter than it was a moment ago: someone is writing it, and what is there is what is read.
  bytes.resize(filled);
  return {};
}

} // namespace nocturne::compiler
