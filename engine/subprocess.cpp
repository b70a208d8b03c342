#include "engine/subprocess.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/error.h"

namespace nocturne {

namespace {

using Clock = std::chrono::steady_clock;

// How often a program that may be stopped is looked after, in milliseconds.
constexpr int kStopPoll = 50;

[[noreturn]] void failTool(const std::string& message) {
  throw ItemError({FailureKind::ToolFailed, message, "", 0, 0});
}

[[noreturn]] void failSystem(const std::string& what) {
  failTool(what + ": " + std::generic_category().message(errno));
}

class Pipe {
public:
  Pipe() {
    // Reading never waits: poll does.
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0 || ::fcntl(ends_[0], F_SETFL, O_NONBLOCK) != 0)
      failSystem("no pipe to a program");
  }
  ~Pipe() {
    closeEnd(0);
    closeEnd(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int end(size_t which) const { return ends_[which]; }
  void closeEnd(size_t which) {
    if (ends_[which] >= 0)
      ::close(ends_[which]);
    ends_[which] = -1;
  }

private:
  std::array<int, 2> ends_{-1, -1};
};

// What a program is to read: all of it in memory, so that nobody has to feed a pipe.
class InputFile {
public:
  explicit InputFile(std::string_view content)
      : descriptor_(content.empty() ? ::open("/dev/null", O_RDONLY | O_CLOEXEC)
                                    : ::memfd_create("nocturne-input", MFD_CLOEXEC)) {
    while (descriptor_ >= 0 && !content.empty()) {
      const ssize_t done = ::write(descriptor_, content.data(), content.size());
      if (done > 0)
        content.remove_prefix(static_cast<size_t>(done));
      else if (errno != EINTR)
        break;
    }
    if (descriptor_ < 0 || !content.empty() || ::lseek(descriptor_, 0, SEEK_SET) != 0) {
      const int reason = errno;
      closeFile();
      errno = reason;
      failSystem("no input for a program");
    }
  }
  ~InputFile() { closeFile(); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  int descriptor() const { return descriptor_; }

private:
  void closeFile() const {
    if (descriptor_ >= 0)
      ::close(descriptor_);
  }
  const int descriptor_;
};

// A child that leads its own process group, and is not yet waited for: as long as it is not, no
// other process can get its number.
class Child {
public:
  explicit Child(pid_t id)
      : id_(id), descriptor_(static_cast<int>(::syscall(SYS_pidfd_open, id, 0))) {
    if (descriptor_ < 0) {
      const int reason = errno;
      end();
      errno = reason;
      failSystem("cannot watch a program");
    }
  }
  ~Child() {
    end();
    if (descriptor_ >= 0)
      ::close(descriptor_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Becomes readable when the program ends.
  int descriptor() const { return descriptor_; }
  // Kills what is left of the group, and waits. The status of waitpid.
  int end() {
    if (status_)
      return *status_;
    ::kill(-id_, SIGKILL);
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    status_ = status;
    return status;
  }

private:
  const pid_t id_;
  const int descriptor_;
  std::optional<int> status_;
};

// Everything between fork and exec may be done in the child of a process with threads.
[[noreturn]] void becomeProgram(const std::string& program, char* const* arguments,
                                const std::string& directory, int input, int output, int errors) {
  ::setpgid(0, 0);
  // Nobody is left to stop it when we are killed.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  const bool ready = ::dup2(input, STDIN_FILENO) >= 0 && ::dup2(output, STDOUT_FILENO) >= 0 &&
                     ::dup2(errors, STDERR_FILENO) >= 0 &&
                     (directory.empty() || ::chdir(directory.c_str()) == 0);
  if (ready)
    ::execv(program.c_str(), arguments);
  constexpr std::string_view kProblem = "the program cannot be executed";
  static_cast<void>(!::write(errors, kProblem.data(), kProblem.size()));
  ::_exit(127);
}

pid_t start(const std::vector<std::string>& arguments, const std::string& directory,
            const InputFile& input, Pipe& output, Pipe& errors) {
  const std::string program = findProgram(arguments.front());
  if (program.empty())
    failTool("there is no program \"" + arguments.front() + '"');
  std::vector<char*> words;
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const pid_t id = ::fork();
  if (id < 0)
    failSystem("cannot start " + arguments.front());
  if (id == 0)
    becomeProgram(program, words.data(), directory, input.descriptor(), output.end(1),
                  errors.end(1));
  // In both processes, since either may be the first to need it.
  ::setpgid(id, id);
  output.closeEnd(1);
  errors.closeEnd(1);
  return id;
}

// Takes what is there. False at the end of the stream.
bool drain(int descriptor, std::string& into, size_t limit) {
  std::array<char, 65536> piece;
  while (into.size() <= limit) {
    const ssize_t got = ::read(descriptor, piece.data(), piece.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return got < 0 && errno == EAGAIN;
    into.append(piece.data(), static_cast<size_t>(got));
  }
  return true;
}

int millisecondsUntil(Clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left + 1, 0, 1'000'000));
}

// Collects both outputs until the program ends or a limit is reached. Not until they are closed:
// something that it started may keep them open, and it may close them and go on.
std::optional<ProgramResult::End> collect(const Child& child, Pipe& output, Pipe& errors,
                                          const ProgramLimits& limits, Clock::time_point deadline,
                                          ProgramResult& result) {
  std::array<pollfd, 3> waits = {
      {{output.end(0), POLLIN, 0}, {errors.end(0), POLLIN, 0}, {child.descriptor(), POLLIN, 0}}};
  for (bool ended = false; !ended;) {
    int patience = millisecondsUntil(deadline);
    if (limits.stop.stop_possible())
      patience = std::min(patience, kStopPoll);
    if (::poll(waits.data(), waits.size(), patience) < 0)
      continue;
    ended = waits[2].revents != 0;
    if (!ended && limits.stop.stop_requested())
      return ProgramResult::End::Stopped;
    if (!ended && Clock::now() >= deadline)
      return ProgramResult::End::TimedOut;
    if (!drain(output.end(0), result.output, limits.outputBytes))
      waits[0].fd = -1;
    if (!drain(errors.end(0), result.errors, limits.outputBytes))
      waits[1].fd = -1;
    if (result.output.size() + result.errors.size() > limits.outputBytes)
      return ProgramResult::End::TooMuchOutput;
  }
  return std::nullopt;
}

std::string lastLine(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.remove_suffix(1);
  const size_t start = text.rfind('\n');
  constexpr size_t kLongest = 300;
  return std::string(text.substr(start == std::string_view::npos ? 0 : start + 1, kLongest));
}

} // namespace

std::string ProgramResult::problem() const {
  std::string text;
  switch (end) {
  case End::Exited:
    text = "exit status " + std::to_string(code);
    break;
  case End::Signalled:
    text = "killed by " + signalName(code);
    break;
  case End::TimedOut:
    text = "no answer within its deadline";
    break;
  case End::TooMuchOutput:
    text = "more output than is read";
    break;
  case End::Stopped:
    text = "stopped before its end";
    break;
  }
  const std::string line = lastLine(errors);
  return line.empty() ? text : text + ": " + line;
}

std::string signalName(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : std::string("SIG") + name;
}

std::string findProgram(const std::string& name) {
  const auto usable = [](const std::string& path) {
    struct stat facts;
    return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
           ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos)
    return usable(name) ? std::filesystem::absolute(name).string() : std::string();
  const char* path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "" : path;
  while (!name.empty() && !folders.empty()) {
    const size_t colon = std::min(folders.find(':'), folders.size());
    const std::string candidate = std::string(folders.substr(0, colon)) + '/' + name;
    if (colon > 0 && usable(candidate))
      return candidate;
    folders.remove_prefix(std::min(colon + 1, folders.size()));
  }
  return {};
}

ProgramResult runProgram(const std::vector<std::string>& arguments, const std::string& directory,
                         const ProgramLimits& limits, std::string_view input) {
  if (arguments.empty() || arguments.front().empty())
    failTool("no program is named");
  const Clock::time_point deadline = Clock::now() + limits.timeout;
  const InputFile file(input);
  Pipe output, errors;
  Child child(start(arguments, directory, file, output, errors));
  ProgramResult result;
  const std::optional<ProgramResult::End> early =
      collect(child, output, errors, limits, deadline, result);
  const int status = child.end();
  if (early)
    result.end = *early;
  else if (WIFSIGNALED(status))
    result.end = ProgramResult::End::Signalled;
  result.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

} // namespace nocturne
