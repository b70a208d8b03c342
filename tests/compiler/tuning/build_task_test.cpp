#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "compiler/tuning/build_task.h"
#include "engine/error.h"
#include "engine/file_bytes.h"
#include "tests/compiler/drivers/fixture.h"
#include "tests/compiler/tuning/fake_tasks.h"

namespace nocturne::test {

using namespace compiler;
namespace fs = std::filesystem;

namespace {

// The usual candidate takes a while, so that others can win.
struct Fixture {
  ScratchDir dir;
  std::string cache = dir / "cache", counted = dir / "count";
  BuildDriver driver{std::make_shared<FakeWays>("ways 1", counted)};

  TaskReport build(const Task& task, bool isolated = false, bool force = false) {
    TaskOptions options = quickly(cache, isolated);
    options.force = force;
    TaskBuilder builder(driver, options);
    return builder.build(task, "cpu");
  }
  size_t generated() const { return fs::exists(counted) ? fs::file_size(counted) : 0; }
};

const CandidateRecord& recordOf(const TaskReport& report, const std::string& name) {
  const auto found =
      std::find_if(report.candidates.begin(), report.candidates.end(),
                   [&](const CandidateRecord& record) { return record.name == name; });
  REQUIRE(found != report.candidates.end());
  return *found;
}

std::string winnerOf(const TaskReport& report) {
  return report.candidates.at(report.winner).name;
}

} // namespace

TEST_CASE("the fastest candidate wins, and all that were right have times") {
  Fixture fixture;
  const TaskReport report =
      fixture.build(taskOf({way("--rounds=4000"), way("--rounds=40000"), way("--rounds=400000")}));
  // The usual one multiplies once.
  CHECK(winnerOf(report) == "usual");
  CHECK(report.measured);
  double before = 0;
  for (const CandidateRecord& record : report.candidates) {
    CHECK((record.state == CandidateState::Timed));
    CHECK(record.timing.median > before);
    CHECK(record.timing.lower <= record.timing.median);
    CHECK(record.timing.median <= record.timing.upper);
    before = record.timing.median;
  }
}

TEST_CASE("a candidate with wrong results is never chosen, however fast it is") {
  Fixture fixture;
  Task task = taskOf({way("--way=wrong"), way("--way=once")});
  task.candidates.push_back({"slow", "", {"--rounds=90000"}, {}});
  const TaskReport report = fixture.build(task);
  const CandidateRecord& wrong = recordOf(report, "--way=wrong");
  CHECK((wrong.state == CandidateState::Wrong));
  CHECK(wrong.reason.find("differs in 4 of 4 numbers") != std::string::npos);
  // Right the first time only: found when it is compared again after its times were taken.
  CHECK((recordOf(report, "--way=once").state == CandidateState::Wrong));
  CHECK(winnerOf(report) == "usual");
}

TEST_CASE("what is wrong depends on the tolerance of the task, which is part of its key") {
  Fixture fixture;
  Task task = taskOf({way("--way=wrong")});
  const TaskReport strict = fixture.build(task);
  task.tolerance = 0.1;
  const TaskReport loose = fixture.build(task);
  CHECK((recordOf(strict, "--way=wrong").state == CandidateState::Wrong));
  CHECK((recordOf(loose, "--way=wrong").state == CandidateState::Timed));
  CHECK(strict.key != loose.key);
}

TEST_CASE("candidates that crash, hang or refuse are dropped with their reasons") {
  Fixture fixture;
  Task task = taskOf({way("--way=crash"), way("--way=hang"), way("--way=refuse"), way("--bad")});
  TaskOptions options = quickly(fixture.cache, true);
  options.runTimeout = std::chrono::milliseconds(10000);
  TaskBuilder builder(fixture.driver, options);
  const TaskReport report = builder.build(task, "cpu");
  CHECK(winnerOf(report) == "usual");
  CHECK((recordOf(report, "--way=crash").state == CandidateState::Crashed));
  CHECK(recordOf(report, "--way=crash").reason.find("killed by SIG") != std::string::npos);
  CHECK((recordOf(report, "--way=hang").state == CandidateState::TimedOut));
  CHECK((recordOf(report, "--way=refuse").state == CandidateState::Failed));
  CHECK(recordOf(report, "--way=refuse").reason.find("refused its call with 7") !=
        std::string::npos);
  CHECK((recordOf(report, "--bad").state == CandidateState::Failed));
  CHECK(recordOf(report, "--bad").reason.find("a bad candidate") != std::string::npos);
}

TEST_CASE("candidates with the same code are measured once") {
  Fixture fixture;
  const TaskReport report = fixture.build(taskOf({way("--nothing"), way("--rounds=1")}));
  CHECK((recordOf(report, "--nothing").state == CandidateState::Same));
  CHECK(recordOf(report, "--nothing").reason == "the same code as usual");
  CHECK((recordOf(report, "--rounds=1").state == CandidateState::Same));
}

TEST_CASE("what was measured is used again") {
  Fixture fixture;
  const Task task = taskOf({way("--rounds=50"), way("--bad")});
  const TaskReport first = fixture.build(task);
  const size_t generated = fixture.generated();
  const TaskReport second = fixture.build(task);
  CHECK(first.measured);
  CHECK_FALSE(second.measured);
  CHECK(second.key == first.key);
  CHECK(second.winner == first.winner);
  CHECK(second.library == first.library);
  CHECK(recordOf(second, "--rounds=50").timing.median ==
        recordOf(first, "--rounds=50").timing.median);
  CHECK(fixture.generated() == generated);
  CHECK(fixture.build(task, false, true).measured); // forced
}

TEST_CASE("a table that does not fit what is on disk does not count") {
  Fixture fixture;
  const Task task = taskOf({way("--rounds=50")});
  const TaskReport first = fixture.build(task);
  const std::string table = first.folder + "/dispatch.json";
  SUBCASE("a library was changed") {
    flipByte(first.library + "/lib.so");
  }
  SUBCASE("a library is gone") {
    fs::remove_all(first.folder + "/.nocturne/" + first.candidates.back().build);
  }
  SUBCASE("the table is cut off") {
    writeText(table, readText(table).substr(0, 100));
  }
  SUBCASE("the table is of another processor") {
    std::string text = readText(table);
    const std::string name = "\"processor\": \"";
    text.insert(text.find(name) + name.size(), "other ");
    writeText(table, text);
  }
  const TaskReport second = fixture.build(task);
  CHECK(second.measured);
  CHECK(CompiledModule::load(second.library));
  CHECK_FALSE(fixture.build(task).measured);
}

TEST_CASE("times of several processors live in one table") {
  Fixture fixture;
  const Task task = taskOf({});
  const TaskReport report = fixture.build(task);
  const std::string path = report.folder + "/dispatch.json";
  DispatchTable table = DispatchTable::read(path, report.key);
  Dispatch other = *table.find(report.processor);
  other.processor = "another one";
  table.set(other);
  table.write(path, report.key);
  CHECK_FALSE(fixture.build(task).measured);
  CHECK(fixture.build(task, false, true).measured);
  CHECK(DispatchTable::read(path, report.key).find("another one") != nullptr);
  CHECK(DispatchTable::read(path, hashBytes("another task")).find("another one") == nullptr);
}

TEST_CASE("a failure that may pass is tried again, others are not") {
  Fixture fixture;
  const std::string tool = fixture.dir / "tool";
  const Task task = taskOf({way("--missing=" + tool), way("--bad")});
  CHECK(fixture.build(task).measured);
  CHECK_FALSE(fixture.build(task).measured); // it is still missing
  writeText(tool, "");
  const TaskReport report = fixture.build(task);
  CHECK(report.measured);
  CHECK((recordOf(report, "--missing=" + tool).state != CandidateState::Failed));
}

TEST_CASE("the key changes with all that matters and with nothing else") {
  ScratchDir dir;
  const auto keyOf = [&](const Task& task, const std::string& version = "ways 1",
                         const std::string& target = "cpu") {
    BuildDriver driver(std::make_shared<FakeWays>(version));
    TaskBuilder builder(driver, quickly(dir / "cache"));
    return builder.build(task, target).key;
  };
  const Task task = taskOf({way("--rounds=2")});
  const Digest key = keyOf(task);
  Task other = task;
  SUBCASE("the payload") {
    other.payload.text = "twice!";
  }
  SUBCASE("a flag of a candidate") {
    other.candidates[0].flags = {"--rounds=3"};
  }
  SUBCASE("a schedule") {
    other.candidates[0].schedule = "// another";
  }
  SUBCASE("a module of a candidate") {
    other.candidates[0].module = ModuleSource{"own.mlir", "own"};
  }
  SUBCASE("one candidate more") {
    other.candidates.push_back(way("--rounds=9"));
  }
  SUBCASE("the search space") {
    other.searchSpace = SearchSpace::Small;
  }
  SUBCASE("the entry") {
    other.entry = "scale";
  }
  CHECK((other.payload.text == "twice" && other.entry.empty() &&
         other.candidates == task.candidates && other.searchSpace == task.searchSpace) ==
        (keyOf(other) == key));
  CHECK(keyOf(task, "ways 2") != key);
  CHECK(keyOf(task, "ways 1", "cpu --arch=x86-64-v2") != key);
  Task renamed = task;
  renamed.name = "another name";
  renamed.payload.name = "elsewhere.mlir";
  CHECK(keyOf(renamed) == key);
}

TEST_CASE("two processes that want the same task measure it once") {
  ScratchDir dir;
  const std::vector<std::string> command = {NOCTURNE_TEST_TUNING_PROBE, "build", dir / "cache",
                                            dir / "count"};
  Program first(command), second(command);
  std::vector<std::string> said = {first.readLine(), second.readLine()};
  std::sort(said.begin(), said.end());
  CHECK(said == std::vector<std::string>{"found 3", "measured 3"});
  CHECK(first.wait() == 0);
  CHECK(second.wait() == 0);
  CHECK(fs::file_size(dir / "count") == 4); // the reference and three candidates
}

TEST_CASE("threads that want the same task through one builder measure it once") {
  Fixture fixture;
  TaskBuilder builder(fixture.driver, quickly(fixture.cache));
  const Task task = taskOf({way("--rounds=3")});
  std::atomic<int> measured = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] { measured += builder.build(task, "cpu").measured ? 1 : 0; });
  }
  CHECK(measured.load() == 1);
}

TEST_CASE("for a device nothing is measured, and the report says so") {
  Fixture fixture;
  TaskBuilder builder(fixture.driver, quickly(fixture.cache));
  const Task task = taskOf({way("--rounds=3")});
  CHECK_FALSE(buildTask(builder, task, "cuda", false));
  const TaskReport report = builder.build(task, "cuda");
  CHECK_FALSE(report.measured);
  CHECK(winnerOf(report) == "usual");
  CHECK(report.note.find("nothing was run") != std::string::npos);
  CHECK((recordOf(report, "--rounds=3").state == CandidateState::Built));
}

TEST_CASE("a task without a usable candidate fails, and so does one for no target") {
  Fixture fixture;
  TaskBuilder builder(fixture.driver, quickly(fixture.cache));
  CHECK_THROWS_AS(builder.build(taskOf({}), "tpu"), UsageError);
  Task task = taskOf({});
  task.candidates.push_back({"usual", "", {}, {}});
  CHECK_THROWS_AS(builder.build(task, "cpu"), UsageError); // the name is taken
  task = taskOf({});
  task.entry = "another";
  CHECK_THROWS_WITH_AS(builder.build(task, "cpu"),
                       doctest::Contains("the payload has no function \"another\""), UsageError);
  CHECK_THROWS_AS(TaskBuilder(fixture.driver, {}), UsageError);
}

TEST_CASE("a stop ends a candidate that is at work, and leaves nothing of it") {
  Fixture fixture;
  std::stop_source stop;
  TaskOptions options = quickly(fixture.cache, true);
  options.runTimeout = std::chrono::hours(1);
  options.stop = stop.get_token();
  TaskBuilder builder(fixture.driver, options);
  const std::string tasks = fixture.cache + "/tasks";
  const auto isMeasuring = [&] {
    std::error_code ignored;
    for (fs::directory_iterator folder(tasks, ignored), end; folder != end;
         folder.increment(ignored))
      if (fs::exists(folder->path() / "reference.bin", ignored))
        return true;
    return false;
  };
  const std::jthread stopper([&](const std::stop_token& over) {
    while (!isMeasuring() && !over.stop_requested())
      std::this_thread::yield();
    stop.request_stop();
  });
  CHECK_THROWS_WITH_AS(builder.build(taskOf({way("--way=hang")}), "cpu"),
                       doctest::Contains("stopped with 2 of 2 candidates built"), BuildCancelled);
  CHECK_FALSE(isMeasuring());
}

TEST_CASE("the folder leads to the winner") {
  Fixture fixture;
  const TaskReport report = fixture.build(taskOf({way("--rounds=90000")}));
  CHECK(fs::canonical(report.folder + "/lib.so") == fs::canonical(report.library + "/lib.so"));
  CHECK_FALSE(fs::exists(report.folder + "/reference.bin"));
}

TEST_CASE("links that are gone are made again without a measurement") {
  Fixture fixture;
  const Task task = taskOf({});
  const TaskReport report = fixture.build(task);
  fs::remove(report.folder + "/lib.so");
  CHECK_FALSE(fixture.build(task).measured);
  CHECK(fs::exists(report.folder + "/lib.so"));
}

TEST_CASE("what a killed process left in the folder of a task is removed by the next") {
  Fixture fixture;
  const Task task = taskOf({});
  const TaskReport report = fixture.build(task);
  const std::vector<std::string> left = {"request.12.3", ".request.12.4.draft-12-0",
                                         "reference.bin", ".dispatch.json.draft-12-1"};
  for (const std::string& name : left)
    writeText(report.folder + '/' + name, "left");
  CHECK_FALSE(fixture.build(task).measured);
  for (const std::string& name : left)
    CHECK_FALSE(fs::exists(report.folder + '/' + name));
  CHECK(fs::exists(report.folder + "/task.json"));
}

TEST_CASE("a winner without a library does not count") {
  Fixture fixture;
  const Task task = taskOf({});
  const TaskReport report = fixture.build(task);
  const std::string table = report.folder + "/dispatch.json";
  std::string text = readText(table);
  const std::string digest = report.candidates[report.winner].digest;
  text.erase(text.find(digest), digest.size());
  writeText(table, text);
  CHECK(fixture.build(task).measured);
}

} // namespace nocturne::test
