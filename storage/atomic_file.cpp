#include "storage/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/system_error.h"

namespace nocturne {

namespace fs = std::filesystem;

namespace {

constexpr size_t kBufferBytes = 64 << 10;

fs::path directoryOf(const std::string& path) {
  fs::path directory = fs::path(path).parent_path();
  return directory.empty() ? fs::path(".") : directory;
}

// Unique in this process by the counter, on this machine by the pid; O_EXCL catches the rest.
std::string draftName(const std::string& path, unsigned number) {
  std::string name(1, '.');
  name.append(fs::path(path).filename().string()).append(".draft-");
  name.append(std::to_string(::getpid())).append("-").append(std::to_string(number));
  return (directoryOf(path) / name).string();
}

// The rename itself has to survive a power failure, too. Some file systems cannot: that is no
// error.
void syncDirectory(const std::string& path) {
  int descriptor = ::open(directoryOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;
  static_cast<void>(::fsync(descriptor));
  ::close(descriptor);
}

} // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  struct stat facts;
  if (::stat(path_.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode))
    throw StorageError(StorageErrorKind::Other, path_ + ": not a regular file");
  for (unsigned number = 0; descriptor_ < 0; ++number) {
    draft_ = draftName(path_, number);
    descriptor_ = ::open(draft_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST)
      throwStorageError(path_, "cannot be written", errno);
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0)
    return;
  ::close(descriptor_);
  ::unlink(draft_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  buffer_.append(bytes);
  if (buffer_.size() >= kBufferBytes)
    flush();
}

void AtomicFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      throwStorageError(path_, "cannot be written", errno);
    rest.remove_prefix(static_cast<size_t>(written));
  }
  buffer_.clear();
}

void AtomicFile::commit() {
  flush();
  if (::fsync(descriptor_) != 0)
    throwStorageError(path_, "cannot be written", errno);
  if (::rename(draft_.c_str(), path_.c_str()) != 0)
    throwStorageError(path_, "cannot be replaced", errno);
  ::close(descriptor_);
  descriptor_ = -1;
  syncDirectory(path_);
}

void writeFileAtomically(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

void makeDirectories(const std::string& path) {
  std::error_code error;
  fs::create_directories(path.empty() ? "." : path, error);
  if (error)
    throwStorageError(path, "cannot make this directory", error.value());
  if (!fs::is_directory(path.empty() ? "." : path, error))
    throwStorageError(path, "cannot make this directory", ENOTDIR);
}

} // namespace nocturne
