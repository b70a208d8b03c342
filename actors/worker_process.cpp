#include "actors/worker_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/descriptor.h"
#include "engine/subprocess.h"

namespace nocturne {

namespace {

// Of standard error, from its end.
constexpr size_t kKeptErrors = 4096;
constexpr size_t kLongestLine = 300;

struct Pipe {
  Descriptor read, write;
  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      return false;
    read.reset(ends[0]);
    write.reset(ends[1]);
    return true;
  }
};

// What the child is given instead of what we have.
class SpawnPlan {
public:
  SpawnPlan(const Pipe& input, const Pipe& errors) {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawn_file_actions_adddup2(&files_, input.read.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&files_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files_, errors.write.get(), STDERR_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&files_, STDERR_FILENO + 1);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                 POSIX_SPAWN_SETSIGDEF);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  // 0, or why not.
  int start(const std::vector<std::string>& command, pid_t& id) const {
    std::vector<char*> words;
    for (const std::string& word : command)
      words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    return ::posix_spawn(&id, words.front(), &files_, &attributes_, words.data(), environ);
  }

private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

// Takes what is there and keeps its end. False when there will be no more.
bool drain(int descriptor, std::string& kept) {
  std::array<char, kKeptErrors> piece;
  for (;;) {
    const ssize_t got = ::read(descriptor, piece.data(), piece.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return got < 0 && errno == EAGAIN;
    kept.append(piece.data(), static_cast<size_t>(got));
    if (kept.size() > kKeptErrors)
      kept.erase(0, kept.size() - kKeptErrors);
  }
}

// Until the process `id` ends; not until its standard error is closed, which something that it
// started may keep open.
void collectErrors(pid_t id, int errors, std::string& kept) {
  const Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, id, 0)));
  std::array<pollfd, 2> waits = {{{errors, POLLIN, 0}, {process.get(), POLLIN, 0}}};
  ::fcntl(errors, F_SETFL, O_NONBLOCK);
  bool ended = process.get() < 0; // then waiting is all that can be done
  while (!ended) {
    if (::poll(waits.data(), waits.size(), -1) < 0)
      continue;
    ended = waits[1].revents != 0;
    if (!drain(errors, kept))
      waits[0].fd = -1;
  }
}

std::string lastLine(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.remove_suffix(1);
  const size_t start = text.rfind('\n');
  return std::string(text.substr(start == std::string_view::npos ? 0 : start + 1, kLongestLine));
}

std::string cannotStart(const std::vector<std::string>& command, int reason) {
  return "cannot start " + command.front() + ": " + std::generic_category().message(reason);
}

} // namespace

WorkerProcess::WorkerProcess(std::vector<std::string> command, std::string input,
                             std::function<void(const ProcessEnd&)> ended)
    : thread_([this, command = std::move(command), input = std::move(input),
               ended = std::move(ended)] { live(command, input, ended); }) {}

WorkerProcess::~WorkerProcess() {
  kill();
  thread_.join();
}

void WorkerProcess::kill() {
  const std::scoped_lock lock(mutex_);
  wanted_ = false;
  if (id_ > 0)
    ::kill(-id_, SIGKILL);
}

// As long as it is not waited for, no other process can get its number.
std::string WorkerProcess::reap() {
  siginfo_t ignored;
  while (::waitid(P_PID, static_cast<id_t>(id_), &ignored, WEXITED | WNOWAIT) < 0 &&
         errno == EINTR) {
  }
  const std::scoped_lock lock(mutex_);
  ::kill(-id_, SIGKILL); // what it started
  int status = 0;
  while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  id_ = 0;
  return WIFSIGNALED(status) ? "killed by " + signalName(WTERMSIG(status))
                             : "exit status " + std::to_string(WEXITSTATUS(status));
}

void WorkerProcess::live(std::vector<std::string> command, const std::string& input,
                         const std::function<void(const ProcessEnd&)>& ended) {
  Pipe in, errors;
  if (!in.open() || !errors.open()) {
    ended({cannotStart(command, errno)});
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    if (!wanted_) {
      ended({"not started"});
      return;
    }
    if (const int reason = SpawnPlan(in, errors).start(command, id_); reason != 0) {
      id_ = 0;
      ended({cannotStart(command, reason)});
      return;
    }
  }
  errors.write.reset();
  // It fits into the pipe, whose other end stays open so that this cannot fail.
  static_cast<void>(!::write(in.write.get(), input.data(), input.size()));
  in.write.reset();
  in.read.reset();
  std::string kept;
  collectErrors(id_, errors.read.get(), kept);
  std::string text = reap();
  if (const std::string line = lastLine(kept); !line.empty())
    text.append(": ").append(line);
  ended({std::move(text)});
}

} // namespace nocturne
