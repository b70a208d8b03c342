#include "tools/line_workers.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/descriptor.h"
#include "engine/error.h"

namespace nocturne::tools {

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void failSystem(const std::string& what) {
  throw StorageError(StorageErrorKind::Other, what + ": " + std::strerror(errno));
}

std::array<Descriptor, 2> makePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    failSystem("cannot make a pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// Everything here may be done between fork and exec.
[[noreturn]] void becomeWorker(const char* program, char* const* words, int input, int output) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  if (::dup2(input, STDIN_FILENO) >= 0 && ::dup2(output, STDOUT_FILENO) >= 0)
    ::execv(program, words);
  ::_exit(127);
}

// One process with at most one request in work.
class Worker {
public:
  Worker(const std::string& program, const std::vector<std::string>& arguments) {
    std::array<Descriptor, 2> input = makePipe(), output = makePipe();
    std::string name = "nocturne";
    std::vector<char*> words = {name.data()};
    for (const std::string& argument : arguments)
      words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    process_ = ::fork();
    if (process_ < 0)
      failSystem("cannot start a process");
    if (process_ == 0)
      becomeWorker(program.c_str(), words.data(), input[0].get(), output[1].get());
    ::setpgid(process_, process_);
    input_ = std::move(input[1]);
    output_ = std::move(output[0]);
  }
  ~Worker() { end(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void send(size_t request, const std::string& text, Clock::time_point deadline) {
    request_ = request;
    deadline_ = deadline;
    ++sent_;
    received_.clear();
    // Names of files may have line ends in them, but no zero bytes, and these are there already.
    const size_t size = text.size() + 1;
    // A process that is gone shows at the other pipe.
    for (size_t done = 0; done < size;) {
      ssize_t count = ::write(input_.get(), text.c_str() + done, size - done);
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        break;
      done += size_t(count);
    }
  }

  // Takes what there is to read; the answer once it is complete.
  std::optional<LineAnswer> receive() {
    char block[65536];
    ssize_t count = ::read(output_.get(), block, sizeof block);
    if (count < 0)
      return std::nullopt;
    received_.append(block, size_t(count));
    LineAnswer answer;
    if (count == 0) {
      // It closed its output by dying; killing it now would hide of what.
      dying_ = true;
      int status = end();
      answer.end = LineAnswer::End::Died;
      answer.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      answer.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
      return answer;
    }
    if (received_.back() != '\n')
      return std::nullopt;
    received_.pop_back();
    answer.line = std::move(received_);
    return answer;
  }

  // Kills the process and what it started; its status.
  int end() {
    if (process_ < 0)
      return status_;
    int status = 0;
    pid_t ended = ::waitpid(process_, &status, dying_ ? 0 : WNOHANG);
    ::kill(-process_, SIGKILL);
    while (ended == 0 && ::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return status_ = status;
  }

  int output() const { return output_.get(); }
  size_t request() const { return request_; }
  size_t sent() const { return sent_; }
  Clock::time_point deadline() const { return deadline_; }

private:
  pid_t process_ = -1;
  int status_ = 0;
  bool dying_ = false;
  Descriptor input_, output_;
  std::string received_;
  size_t request_ = 0, sent_ = 0;
  Clock::time_point deadline_;
};

// Becomes readable when a stop is requested.
class StopPipe {
public:
  explicit StopPipe(const std::stop_token& stop)
      : ends_(makePipe()),
        onStop_(stop, [this] { static_cast<void>(!::write(ends_[1].get(), "", 1)); }) {}
  StopPipe(const StopPipe&) = delete;
  StopPipe& operator=(const StopPipe&) = delete;
  int descriptor() const { return ends_[0].get(); }

private:
  std::array<Descriptor, 2> ends_;
  std::stop_callback<std::function<void()>> onStop_;
};

class Pool {
public:
  Pool(const std::vector<std::string>& arguments, const std::vector<std::string>& requests,
       const LineWorkOptions& options, const std::function<bool(size_t, const LineAnswer&)>& done)
      : arguments_(arguments), requests_(requests), options_(options), done_(done),
        stop_(options.stop),
        workers_(std::clamp<size_t>(options.processes, 1, std::max<size_t>(requests.size(), 1))) {}

  void run() {
    for (std::unique_ptr<Worker>& worker : workers_)
      give(worker);
    while (!options_.stop.stop_requested() &&
           std::any_of(workers_.begin(), workers_.end(), [](auto& worker) { return !!worker; }))
      wait();
  }

private:
  // The next request, or an end, for a worker that has nothing to do.
  void give(std::unique_ptr<Worker>& worker) {
    if (next_ == requests_.size()) {
      worker.reset();
      return;
    }
    if (!worker || worker->sent() >= options_.requestsPerProcess)
      worker = std::make_unique<Worker>(options_.program, arguments_);
    worker->send(next_, requests_[next_], Clock::now() + options_.timeout);
    ++next_;
  }

  void wait() {
    std::vector<pollfd> watched;
    Clock::time_point first = Clock::time_point::max();
    for (std::unique_ptr<Worker>& worker : workers_) {
      watched.push_back({worker ? worker->output() : -1, POLLIN, 0});
      if (worker)
        first = std::min(first, worker->deadline());
    }
    watched.push_back({stop_.descriptor(), POLLIN, 0});
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(first - Clock::now());
    int timeout = int(std::clamp<int64_t>(left.count() + 1, 0, 60'000));
    if (::poll(watched.data(), watched.size(), timeout) < 0 && errno != EINTR)
      failSystem("cannot wait for processes");
    for (size_t i = 0; i < workers_.size(); ++i)
      if (workers_[i])
        look(workers_[i], watched[i].revents != 0);
  }

  void look(std::unique_ptr<Worker>& worker, bool isReadable) {
    std::optional<LineAnswer> answer;
    if (isReadable)
      answer = worker->receive();
    // Also for who says something all the time and never comes to an end.
    if (!answer && Clock::now() >= worker->deadline())
      answer = LineAnswer{LineAnswer::End::TimedOut, "", 0, 0};
    if (!answer)
      return;
    size_t request = worker->request();
    if (answer->end != LineAnswer::End::Answered)
      worker.reset();
    if (!done_(request, *answer))
      next_ = requests_.size();
    give(worker);
  }

  const std::vector<std::string>& arguments_;
  const std::vector<std::string>& requests_;
  const LineWorkOptions& options_;
  const std::function<bool(size_t, const LineAnswer&)>& done_;
  const StopPipe stop_;
  std::vector<std::unique_ptr<Worker>> workers_;
  size_t next_ = 0;
};

} // namespace

void answerLines(const std::vector<std::string>& arguments,
                 const std::vector<std::string>& requests, const LineWorkOptions& options,
                 const std::function<bool(size_t, const LineAnswer&)>& done) {
  // Writing to a process that died is an error of the write.
  ::signal(SIGPIPE, SIG_IGN);
  Pool(arguments, requests, options, done).run();
}

} // namespace nocturne::tools
