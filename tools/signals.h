// SIGINT and SIGTERM become a stop request; the second of them ends the process at once.
#pragma once

#include <atomic>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>

namespace nocturne::tools {

// Blocks both signals in the calling thread and in every thread made after it, and ignores SIGPIPE:
// a reader of our output that goes away is an error of the write, not our death. Call before any
// thread exists.
void blockSignals();
// Back to the default for a command that does not heed a stop request.
void unblockSignals();

// Waits for the blocked signals in a thread of its own as long as it lives.
class SignalWatcher {
public:
  // `told` is called in the watching thread when the first of them comes. The second writes
  // `lastWords` to standard error, if that takes them at once.
  SignalWatcher(std::stop_source& stop, std::function<void()> told, std::string lastWords);
  ~SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

  // SIGINT, SIGTERM, or 0 when neither came.
  int received() const { return received_; }

private:
  void wait(std::stop_source& stop);
  const std::function<void()> told_;
  const std::string lastWords_;
  std::atomic<int> received_ = 0;
  std::thread thread_;
};

} // namespace nocturne::tools
