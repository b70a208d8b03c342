#include "storage/file_lock.h"

#include <cerrno>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/system_error.h"

namespace nocturne {

namespace {

constexpr std::chrono::milliseconds kPollInterval{10};

// A lock file that may not be written can still be locked.
int openLockFile(const std::string& path) {
  int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  int error = errno;
  if (descriptor < 0 && (error == EACCES || error == EPERM || error == EROFS))
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0)
    throwStorageError(path, "cannot open the lock file", error);
  return descriptor;
}

bool isStillNamed(int descriptor, const std::string& path) {
  struct stat opened, named;
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

int flockRetrying(int descriptor, int operation) {
  int result;
  do
    result = ::flock(descriptor, operation);
  while (result != 0 && errno == EINTR);
  return result;
}

} // namespace

std::optional<FileLock> FileLock::tryAcquire(const std::string& path, Mode mode,
                                             const std::string& holderText) {
  int operation = (mode == Mode::Shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  for (;;) {
    FileLock lock(path, openLockFile(path), mode);
    if (flockRetrying(lock.descriptor_, operation) != 0) {
      int error = errno;
      lock.mode_ = Mode::Shared; // so that the holder's text stays
      if (error == EWOULDBLOCK)
        return std::nullopt;
      throwStorageError(path, "cannot be locked", error);
    }
    if (!isStillNamed(lock.descriptor_, path))
      continue;
    if (mode == Mode::Exclusive)
      lock.writeHolder("pid " + std::to_string(::getpid()) +
                       (holderText.empty() ? "" : " (" + holderText + ")"));
    return lock;
  }
}

FileLock FileLock::acquire(const std::string& path, Mode mode, std::chrono::milliseconds timeout,
                           const std::string& holderText, const std::stop_token& stop) {
  auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    if (auto lock = tryAcquire(path, mode, holderText))
      return std::move(*lock);
    bool late = std::chrono::steady_clock::now() >= deadline;
    if (late || stop.stop_requested()) {
      std::string who = holder(path);
      throw StorageError(StorageErrorKind::Other, path + ": locked by " +
                                                      (who.empty() ? "another process" : who) +
                                                      (late ? "" : "; the wait was stopped"));
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

std::string FileLock::holder(const std::string& path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0)
    return {};
  char text[256];
  ssize_t size = ::pread(descriptor, text, sizeof text, 0);
  ::close(descriptor);
  return size > 0 ? std::string(text, static_cast<size_t>(size)) : std::string();
}

FileLock::FileLock(FileLock&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)),
      mode_(other.mode_) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(mode_, other.mode_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ < 0)
    return;
  if (mode_ == Mode::Exclusive)
    writeHolder({});
  ::close(descriptor_);
}

// For messages only, so a failure (a full disk, a lock file that may only be read) is no matter.
void FileLock::writeHolder(const std::string& text) const {
  if (::ftruncate(descriptor_, 0) == 0)
    static_cast<void>(!::pwrite(descriptor_, text.data(), text.size(), 0));
}

} // namespace nocturne
