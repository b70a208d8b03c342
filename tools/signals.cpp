#include "tools/signals.h"

#include <csignal>
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

SignalWatcher::SignalWatcher(std::stop_source& stop, std::function<void()> told)
    : told_(std::move(told)), thread_([this, &stop] { wait(stop); }) {}

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
    if (received_ != 0)
      _exit(128 + signal); // what is committed is safe, and waiting is what the user is tired of
    received_ = signal;
    told_();
    stop.request_stop();
  }
}

} // namespace nocturne::tools
