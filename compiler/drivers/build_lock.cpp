#include "compiler/drivers/build_lock.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include <unistd.h>

#include "compiler/drivers/build_options.h"

namespace nocturne::compiler {

namespace {

constexpr std::chrono::milliseconds kFirstPause{1};
constexpr std::chrono::milliseconds kLongestPause{50};

// What others read when they wait too long.
std::string holderText() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0)
    host[0] = '?';
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> time{};
  std::strftime(time.data(), time.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string("builds on ") + host.data() + " since " + time.data();
}

[[noreturn]] void failLate(const std::string& path, std::chrono::milliseconds timeout) {
  const std::string who = FileLock::holder(path);
  throw ItemError({FailureKind::TimedOut,
                   path + ": not free within " + std::to_string(timeout.count()) + " ms: held by " +
                       (who.empty() ? "another process" : who),
                   "", 0, 0});
}

[[noreturn]] void failStopped(const std::string& path) {
  throw BuildCancelled(path + ": the wait for the lock was stopped");
}

} // namespace

BuildLocks::Held::Held(Held&& other) noexcept
    : locks_(std::exchange(other.locks_, nullptr)), path_(std::move(other.path_)),
      file_(std::move(other.file_)) {}

BuildLocks::Held::~Held() {
  if (locks_ == nullptr)
    return;
  file_.reset(); // before the next thread of this process asks for it
  {
    const std::scoped_lock lock(locks_->mutex_);
    locks_->owned_.erase(path_);
  }
  locks_->changed_.notify_all();
}

BuildLocks::Held BuildLocks::acquire(const std::string& path, std::chrono::milliseconds timeout,
                                     const std::stop_token& stop) {
  const Clock::time_point deadline = Clock::now() + timeout;
  {
    std::unique_lock lock(mutex_);
    const auto isFree = [&] { return !owned_.contains(path); };
    if (!changed_.wait_until(lock, stop, deadline, isFree)) {
      lock.unlock();
      if (stop.stop_requested())
        failStopped(path);
      failLate(path, timeout);
    }
    owned_.insert(path);
  }
  Held held(*this, path);
  waitForFile(held, deadline, timeout, stop);
  return held;
}

// flock has no wait with a deadline, and a thread that blocks in it cannot be stopped: so it is
// asked again after pauses that grow.
void BuildLocks::waitForFile(Held& held, Clock::time_point deadline,
                             std::chrono::milliseconds timeout, const std::stop_token& stop) {
  std::chrono::milliseconds pause = kFirstPause;
  for (;;) {
    held.file_ = FileLock::tryAcquire(held.path_, FileLock::Mode::Exclusive, holderText());
    if (held.file_)
      return;
    if (stop.stop_requested())
      failStopped(held.path_);
    const Clock::time_point now = Clock::now();
    if (now >= deadline)
      failLate(held.path_, timeout);
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, stop, std::min(now + pause, deadline), [] { return false; });
    pause = std::min(pause * 2, kLongestPause);
  }
}

std::optional<BuildLocks::Held> BuildLocks::tryAcquire(const std::string& path) {
  {
    const std::scoped_lock lock(mutex_);
    if (!owned_.insert(path).second)
      return std::nullopt;
  }
  Held held(*this, path);
  held.file_ = FileLock::tryAcquire(path, FileLock::Mode::Exclusive, holderText());
  if (!held.file_)
    return std::nullopt;
  return held;
}

} // namespace nocturne::compiler
