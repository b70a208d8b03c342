// External programs, well and badly behaved: each is a few lines of shell.
#include "estimators/command_estimator.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "estimators/registry.h"
#include "tests/estimators/ops.h"
#include "tests/estimators/programs.h"

using namespace nocturne;
using nocturne::test::shell;
using nocturne::test::Tools;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

ProgramLimits limits(std::chrono::milliseconds timeout = 60s, size_t bytes = 1 << 20) {
  return {timeout, bytes};
}

ProgramResult run(const std::string& script, const ProgramLimits& how = limits()) {
  return runProgram(shell(script), "", how);
}

Failure failureOf(const Json& options, const std::string& name = "command") {
  const auto estimator = test::make(name, Json::object(), options);
  Module module = test::moduleOf({test::op("stablehlo.add", "4xf32 4xf32", "4xf32")});
  module.path = "m.mlir";
  try {
    estimator->estimate(module, "", nullptr, false);
  } catch (const ItemError& error) {
    return error.failure();
  }
  return {};
}

EstimatorResult estimateWith(const Json& options, const std::string& path = "m.mlir",
                             const std::string& name = "command") {
  const auto estimator = test::make(name, Json::object(), options);
  Module module = test::moduleOf({test::op("stablehlo.add", "4xf32 4xf32", "4xf32")});
  module.path = path;
  module.arguments = {test::type("4xf32"), test::type("f32")};
  estimator->wantDetails(true);
  return estimator->estimate(module, "", nullptr, false);
}

Json command(const std::string& script, Json more = Json::object()) {
  Json options = {{"command", shell(script)}, {"pattern", "time=([0-9.]+)"}};
  options.update(more);
  return options;
}

} // namespace

TEST_CASE("a program's outputs and exit status come back") {
  const ProgramResult result = run("echo out; echo err >&2; exit 3");
  CHECK((result.end == ProgramResult::End::Exited));
  CHECK(result.code == 3);
  CHECK(result.output == "out\n");
  CHECK(result.errors == "err\n");
  CHECK(result.problem() == "exit status 3: err");
  CHECK(run("cat").output == ""); // standard input is empty, not ours
}

TEST_CASE("a program reads the input that it is given") {
  const std::string input(200'000, 'x');
  const ProgramResult result = runProgram(shell("cat"), "", limits(), input);
  CHECK(result.output == input);
}

TEST_CASE("a program ends when a stop is asked for") {
  std::stop_source stop;
  ProgramLimits how = limits();
  how.stop = stop.get_token();
  CHECK(run("exit 0", how).succeeded());
  stop.request_stop();
  const ProgramResult result = run("exec sleep 1000", how);
  CHECK((result.end == ProgramResult::End::Stopped));
  CHECK(result.problem() == "stopped before its end");
}

TEST_CASE("signals have their names") {
  CHECK(signalName(11) == "SIGSEGV");
  CHECK(signalName(9) == "SIGKILL");
  CHECK(signalName(64) == "signal 64");
}

TEST_CASE("a program that dies says by which signal") {
  const ProgramResult result = run("kill -SEGV $$");
  CHECK((result.end == ProgramResult::End::Signalled));
  CHECK(result.code == SIGSEGV);
}

TEST_CASE("a program that hangs ends at its deadline, with all its children") {
  Tools tools;
  const std::string id = tools.file("id");
  const ProgramResult result =
      run("sleep 1000 & echo $! > " + id + "; exec sleep 1000", limits(2s));
  CHECK((result.end == ProgramResult::End::TimedOut));
  pid_t child = 0;
  std::ifstream(id) >> child;
  REQUIRE(child > 0);
  // It was killed before the call returned, and dies as soon as it is scheduled.
  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  if (descriptor >= 0) {
    pollfd end{descriptor, POLLIN, 0};
    CHECK(::poll(&end, 1, 10'000) == 1);
    ::close(descriptor);
  }
}

TEST_CASE("a program that closes its outputs and goes on is stopped as well") {
  const ProgramResult result = run("exec >&- 2>&-; exec sleep 1000", limits(300ms));
  CHECK((result.end == ProgramResult::End::TimedOut));
}

TEST_CASE("what a program leaves behind does not hold up the call") {
  const ProgramResult result = run("sleep 1000 & echo done");
  CHECK((result.end == ProgramResult::End::Exited));
  CHECK(result.output == "done\n");
}

TEST_CASE("a flood of output ends at its limit") {
  const ProgramResult result = run("exec cat /dev/zero", limits(60s, 100000));
  CHECK((result.end == ProgramResult::End::TooMuchOutput));
  CHECK(result.output.size() < 300000);
}

TEST_CASE("a missing program is named") {
  CHECK_THROWS_WITH_AS(runProgram({"no-such-program"}, "", limits()),
                       doctest::Contains("no-such-program"), ItemError);
  CHECK(findProgram("no-such-program") == "");
  CHECK(findProgram("sh").ends_with("/sh"));
  CHECK(findProgram("/etc/passwd") == ""); // not executable
}

TEST_CASE("no child is left to be collected") {
  for (int i = 0; i < 20; ++i)
    run("exit 0");
  CHECK(::waitpid(-1, nullptr, WNOHANG) < 0);
}

TEST_CASE("times come from each match of the pattern") {
  const EstimatorResult result =
      estimateWith(command("echo time=9; echo time=2; echo time=4", {{"unit", "ms"}}));
  CHECK(*result.runtime == doctest::Approx(3e-3)); // 9 ms is the first: it warmed up
  CHECK(result.metadata.at("samples_s").size() == 3);
}

TEST_CASE("times come from a JSON pointer") {
  Json options = {{"command", shell("echo '{\"runs\": [8, 1, 2, 6]}'")},
                  {"pointer", "/runs"},
                  {"unit", "us"},
                  {"summary", "median"}};
  CHECK(*estimateWith(options).runtime == doctest::Approx(2e-6));
  options["drop_first"] = false;
  CHECK(*estimateWith(options).runtime == doctest::Approx(4e-6)); // between 2 and 6
  options["summary"] = "least";
  CHECK(*estimateWith(options).runtime == doctest::Approx(1e-6));
}

TEST_CASE("the program is given the module's file, and a folder that is gone afterwards") {
  Tools tools;
  const std::string seen = tools.file("seen");
  estimateWith(command("echo \"$1\" > " + seen + "; pwd >> " + seen + "; echo time=1"));
  Json options = command("", {{"repetitions", 2}});
  options["command"] = {tools.write("tool", "echo \"$1 $PWD\" >> " + seen + "; echo time=1"),
                        "{module}"};
  estimateWith(options, "/models/a b.mlir");
  std::ifstream stream(seen);
  std::string line, folder;
  while (std::getline(stream, line))
    if (line.starts_with("/models/a b.mlir "))
      folder = line.substr(std::string("/models/a b.mlir ").size());
  CHECK(!folder.empty());
  CHECK_FALSE(fs::exists(folder));
}

TEST_CASE("a preparing program runs once, before the timed one") {
  Tools tools;
  const std::string log = tools.file("log");
  Json options = command("echo run >> " + log + "; echo time=1", {{"repetitions", 3}});
  options["prepare"] = shell("echo prepare >> " + log);
  estimateWith(options);
  std::ifstream stream(log);
  const std::string all((std::istreambuf_iterator<char>(stream)), {});
  CHECK(all == "prepare\nrun\nrun\nrun\n");
}

TEST_CASE("whatever a program does wrong is one failed item with the reason") {
  const auto problem = [](const Json& options) {
    const Failure failure = failureOf(options);
    CHECK((failure.kind == FailureKind::ToolFailed));
    CHECK(failure.file == "m.mlir");
    return failure.message;
  };
  CHECK(problem(command("echo broken >&2; exit 2")) == "sh: exit status 2: broken");
  CHECK(problem(command("kill -ABRT $$")) == "sh: killed by SIGABRT");
  CHECK(problem(command("sleep 1000", {{"timeout_s", 0.2}})) ==
        "sh: no answer within its deadline");
  CHECK(problem(command("cat /dev/zero", {{"largest_output_bytes", 1000}})) ==
        "sh: more output than is read");
  CHECK(problem(command("echo nothing here")) == "the program's output has no time");
  CHECK(problem(command("echo time=1.2.3")).find("no number") != std::string::npos);
  CHECK(problem(command("echo time=0")).find("no time above zero") != std::string::npos);
  CHECK(problem({{"command", shell("head -c 10000 /dev/urandom")}, {"pointer", "/a"}}) ==
        "the program's output is no JSON");
  CHECK(problem({{"command", shell("echo '{}'")}, {"pointer", "/a"}}) ==
        "the program's output has nothing at /a");
  CHECK(problem({{"command", {"no-such-program"}}, {"pattern", "(1)"}}) ==
        "there is no program \"no-such-program\"");
}

TEST_CASE("options of command are checked before anything runs") {
  const auto refused = [](const Json& options) {
    CHECK_THROWS_AS(test::make("command", Json::object(), options), UsageError);
  };
  refused({{"pattern", "(1)"}});
  refused({{"command", "ls"}, {"pattern", "(1)"}});
  refused({{"command", Json::array()}, {"pattern", "(1)"}});
  refused({{"command", {"ls"}}});
  refused({{"command", {"ls"}}, {"pattern", "(1)"}, {"pointer", "/a"}});
  refused({{"command", {"ls"}}, {"pattern", "("}});
  refused({{"command", {"ls"}}, {"pattern", "no group"}});
  refused({{"command", {"ls"}}, {"pointer", "a"}});
  refused({{"command", {"ls"}}, {"pattern", "(1)"}, {"unit", "minutes"}});
}

TEST_CASE("xla: durations in nanoseconds, the first left out") {
  Tools tools;
  const Json options = {
      {"xla_translate_path", tools.write("translate", "echo HLO > \"$3\"")},
      {"hlo_runner_main_path",
       tools.write("runner", "grep -q HLO \"$4\" || exit 1\n"
                             "for t in 827655700 86603775 83090431 75189247 73478141; do\n"
                             "  echo \"## Execution time, file=x repeat=1 duration=${t}ns\" >&2\n"
                             "done")}};
  // The mean of the last four, as Python's statistics module has it.
  CHECK(*estimateWith(options, "m.mlir", "xla").runtime == doctest::Approx(0.0795903985));
}

TEST_CASE("xla: a translator that fails, or writes nothing, fails the item") {
  Tools tools;
  const std::string runner = tools.write("runner", "exit 0");
  CHECK(failureOf({{"xla_translate_path", tools.write("bad", "echo no >&2; exit 1")},
                   {"hlo_runner_main_path", runner}},
                  "xla")
            .message.ends_with("exit status 1: no"));
  CHECK(failureOf({{"xla_translate_path", tools.write("lazy", "exit 0")},
                   {"hlo_runner_main_path", runner}},
                  "xla")
            .message.ends_with("wrote no HLO text"));
}

TEST_CASE("iree: one input an argument, real times of the runs") {
  Tools tools;
  const std::string seen = tools.file("seen");
  const Json options = {
      {"iree_compile",
       tools.write("compile",
                   "for word; do case $word in -o=*) echo x > \"${word#-o=}\";; esac; done")},
      {"iree_benchmark",
       tools.write(
           "benchmark",
           "echo \"$@\" > " + seen +
               "\necho '{\"benchmarks\": ["
               "{\"run_type\": \"iteration\", \"real_time\": 9, \"time_unit\": \"ms\"},"
               "{\"run_type\": \"iteration\", \"real_time\": 2, \"time_unit\": \"ms\"},"
               "{\"run_type\": \"iteration\", \"real_time\": 4000, \"time_unit\": \"us\"},"
               "{\"run_type\": \"aggregate\", \"real_time\": 5, \"time_unit\": \"ms\"}]}'")}};
  CHECK(*estimateWith(options, "m.mlir", "iree").runtime == doctest::Approx(3e-3));
  std::ifstream stream(seen);
  const std::string words((std::istreambuf_iterator<char>(stream)), {});
  CHECK(words.find("--input=4xf32=1 --input=f32=1") != std::string::npos);
}

TEST_CASE("a report of a benchmark that makes no sense says why") {
  const auto problem = [](const std::string& report) {
    try {
      benchmarkTimes(report);
    } catch (const ItemError& error) {
      CHECK((error.failure().kind == FailureKind::ToolFailed));
      return error.failure().message;
    }
    return std::string();
  };
  CHECK(problem(R"({"benchmarks": [{"real_time": 1}]})") == "");
  CHECK(problem("\x01\x02") == "the benchmark program wrote no report");
  CHECK(problem(R"({"benchmarks": [3]})") == "the benchmark program's report has no run");
  CHECK(problem(R"({"benchmarks": [{"real_time": "1"}]})").ends_with("without real_time"));
  CHECK(problem(R"({"benchmarks": [{"run_type": 3}]})").ends_with("run_type that is no text"));
  CHECK(problem(R"({"benchmarks": [{"real_time": 1, "time_unit": "h"}]})").ends_with("unit: h"));
  CHECK(problem(R"({"benchmarks": [{"real_time": 0}]})").find("no time above zero") !=
        std::string::npos);
  CHECK(problem(R"({"benchmarks": [{"error_message": "no device"}]})").ends_with("\"no device\""));
}

TEST_CASE("an estimator whose programs are missing says which") {
  EstimatorRegistry registry;
  registerBuiltins(registry);
  if (findProgram("hlo_runner_main").empty()) {
    CHECK(registry.find("xla")->unavailable.find("$PATH") != std::string::npos);
  }
  CHECK(registry.find("command")->unavailable == "");
  CHECK_FALSE(registry.find("command")->allowMultiprocess);
}
