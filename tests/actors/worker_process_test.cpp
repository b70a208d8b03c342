// Processes of workers, played by shells.
#include "actors/worker_process.h"

#include <condition_variable>
#include <mutex>
#include <optional>

#include <doctest/doctest.h>

using namespace nocturne;

namespace {

// How a process ended, when it has.
class Ending {
public:
  void set(const ProcessEnd& end) {
    const std::scoped_lock lock(mutex_);
    text_ = end.text;
    changed_.notify_all();
  }
  std::string wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return text_.has_value(); });
    return *text_;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::string> text_;
};

std::string endOf(const std::string& script, const std::string& input = "") {
  Ending ending;
  const WorkerProcess process({"/bin/sh", "-c", script}, input,
                              [&](const ProcessEnd& end) { ending.set(end); });
  return ending.wait();
}

} // namespace

TEST_CASE("the end of a process says its status or signal and its last words") {
  CHECK(endOf("exit 0") == "exit status 0");
  CHECK(endOf("exit 3") == "exit status 3");
  CHECK(endOf("kill -SEGV $$") == "killed by SIGSEGV");
  CHECK(endOf("echo first >&2; echo 'LLVM ERROR: no' >&2; kill -ABRT $$") ==
        "killed by SIGABRT: LLVM ERROR: no");
}

TEST_CASE("a process reads its input and then its end, and prints to nobody") {
  CHECK(endOf("read a b; echo $b-$a >&2; read c || echo end >&2; echo noise", "1 two\n") ==
        "exit status 0: end");
  CHECK(endOf("read a b; echo $b-$a >&2", "1 two\n") == "exit status 0: two-1");
}

TEST_CASE("a process does not wait for what it left behind") {
  CHECK(endOf("sleep 1000 & exit 4") == "exit status 4");
}

TEST_CASE("a process that has no descriptors of ours is killed on demand") {
  Ending ending;
  WorkerProcess process({"/bin/sh", "-c", "exec sleep 1000"}, "",
                        [&](const ProcessEnd& end) { ending.set(end); });
  process.kill();
  const std::string text = ending.wait();
  CHECK((text == "killed by SIGKILL" || text == "not started"));
  process.kill(); // harmless
}

TEST_CASE("the destructor kills and waits") {
  Ending ending;
  {
    const WorkerProcess process({"/bin/sh", "-c", "exec sleep 1000"}, "",
                                [&](const ProcessEnd& end) { ending.set(end); });
  }
  CHECK_FALSE(ending.wait().empty());
}

TEST_CASE("a program that is not there is an end as well") {
  Ending ending;
  const WorkerProcess process({"/no/such/program"}, "",
                              [&](const ProcessEnd& end) { ending.set(end); });
  CHECK(ending.wait() == "cannot start /no/such/program: No such file or directory");
}
