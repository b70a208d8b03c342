// A worker as the operating system has it: started, watched, killed, and waited for.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

namespace nocturne {

// How a process ended: "killed by SIGSEGV", "exit status 1", each with the last line that it wrote
// to standard error, or why it could not be started.
struct ProcessEnd {
  std::string text;
};

// A child in a process group of its own, so that the keyboard's signals do not reach it. It has no
// file of ours open; its standard input is `input`, which a pipe can hold, its output is nowhere.
// The thread that starts it waits for it and does nothing else, because a child that asks to be
// killed with its parent is killed with the parent's thread. Thread-safe.
class WorkerProcess {
public:
  // `ended` is called once, in that thread.
  WorkerProcess(std::vector<std::string> command, std::string input,
                std::function<void(const ProcessEnd&)> ended);
  // Kills it and waits.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // With SIGKILL, and with it whatever it has in its group. Harmless when it has ended.
  void kill();

private:
  void live(std::vector<std::string> command, const std::string& input,
            const std::function<void(const ProcessEnd&)>& ended);
  std::string reap();

  std::mutex mutex_;
  pid_t id_ = 0;       // guarded by mutex_; 0 before it is started and after it is waited for
  bool wanted_ = true; // guarded by mutex_; false when it is to be killed
  std::thread thread_;
};

} // namespace nocturne
