// Locks between processes and threads, on a file of their own.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

namespace nocturne {

// An flock(2) on a lock file that is made when missing and never unlinked: whoever waits for a file
// that is unlinked under him gets a lock that excludes nobody. In case somebody else does unlink
// it, the lock is checked after it is got (the descriptor must still be the file of that name). The
// descriptor is the object's own and closed on exec, so that a child program does not keep the
// lock. The kernel frees the lock when its holder dies. An exclusive holder writes its pid and a
// text into the file, for messages only.
class FileLock {
public:
  enum class Mode : uint8_t { Shared, Exclusive };

  // Returns nothing when another holder is in the way. Throws StorageError when the file cannot be
  // opened.
  static std::optional<FileLock> tryAcquire(const std::string& path, Mode mode,
                                            const std::string& holderText = {});
  // Waits, and blocks its thread while it does. Throws StorageError when `timeout` passes (the
  // message names the holder) or a stop is asked for.
  static FileLock acquire(const std::string& path, Mode mode, std::chrono::milliseconds timeout,
                          const std::string& holderText = {}, const std::stop_token& stop = {});
  // What the last exclusive holder wrote: "pid 4711 (nocturne sweep)"; "" when unknown.
  static std::string holder(const std::string& path);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

  const std::string& path() const { return path_; }

private:
  FileLock(std::string path, int descriptor, Mode mode)
      : path_(std::move(path)), descriptor_(descriptor), mode_(mode) {}
  void writeHolder(const std::string& text) const;

  std::string path_;
  int descriptor_ = -1;
  Mode mode_ = Mode::Exclusive;
};

} // namespace nocturne
