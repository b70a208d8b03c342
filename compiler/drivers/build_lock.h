// Who builds what: one owner of a lock file among all threads of all processes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_set>

#include "storage/file_lock.h"

namespace nocturne::compiler {

// Threads of one process queue here, so that only one of them asks the kernel. Thread-safe;
// outlives what it hands out.
class BuildLocks {
public:
  class Held {
  public:
    Held(Held&& other) noexcept;
    Held& operator=(Held&&) = delete;
    ~Held();

  private:
    friend class BuildLocks;
    Held(BuildLocks& locks, std::string path) : locks_(&locks), path_(std::move(path)) {}
    BuildLocks* locks_;
    std::string path_;
    std::optional<FileLock> file_;
  };

  // Throws ItemError (timed_out) when `timeout` passes: the message names the holder's process and
  // machine and since when. Throws BuildCancelled when a stop is asked for.
  Held acquire(const std::string& path, std::chrono::milliseconds timeout,
               const std::stop_token& stop);
  // Returns nothing when somebody has it.
  std::optional<Held> tryAcquire(const std::string& path);

private:
  using Clock = std::chrono::steady_clock;
  void waitForFile(Held& held, Clock::time_point deadline, std::chrono::milliseconds timeout,
                   const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::unordered_set<std::string> owned_; // guarded by mutex_
};

} // namespace nocturne::compiler
