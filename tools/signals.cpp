#include "tools/signals.h"

#include <csignal>

#include <poll.h>
#include <unistd.h>

namespace nocturne::tools {

namespace {

// Wakes the watching thread when it has to end. Blocked like the others, so it interrupts nothing.
constexpr int kWake = SIGUSR2;

sigset_t watchedSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, kWake);
  return set;
}

} // namespace

void blockSignals() {
  const sigset_t set = watchedSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void unblockSignals() {
  const sigset_t set = watchedSignals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

SignalWatcher::SignalWatcher(std::stop_source& stop, std::function<void()> told,
                             std::string lastWords)
    : told_(std::move(told)), lastWords_(std::move(lastWords)),
      thread_([this, &stop] { wait(stop); }) {}

SignalWatcher::~SignalWatcher() {
  pthread_kill(thread_.native_handle(), kWake);
  thread_.join();
}

void SignalWatcher::wait(std::stop_source& stop) {
  const sigset_t set = watchedSignals();
  while (true) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0)
      continue;
    if (signal == kWake)
      return;
    if (received_ != 0) {
      // Waiting is what the user is tired of: for locks, and for readers of ours as well.
      pollfd errors{STDERR_FILENO, POLLOUT, 0};
      if (::poll(&errors, 1, 0) == 1 && (errors.revents & POLLOUT) != 0)
        static_cast<void>(!::write(STDERR_FILENO, lastWords_.data(), lastWords_.size()));
      _exit(128 + signal);
    }
    received_ = signal;
    told_();
    stop.request_stop();
  }
}

} // namespace nocturne::tools
