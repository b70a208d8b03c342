// Batches in worker processes, with a code generator that crashes and hangs when it is told to.
#include "actors/build_batch.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <doctest/doctest.h>

#include "compiler/drivers/manifest.h"
#include "tests/actors/fakes.h"
#include "tests/compiler/drivers/fake_generator.h"

using namespace nocturne;
using namespace nocturne::test;
using compiler::BatchResult;
using compiler::BuildReport;
using compiler::BuildState;

namespace {

class BuildWorld {
public:
  ScratchDir folder;
  std::vector<BuildRequest> requests;
  std::vector<std::string> outputs;
  compiler::BuildOptions options;
  compiler::BatchOptions batch;
  BuildWorkerOptions workers;

  BuildWorld() {
    batch.jobs = 2;
    workers.command = {NOCTURNE_TEST_WORKER};
  }

  std::string path(const std::string& name) const { return folder / name; }

  void add(const std::string& name, const std::string& more = "") {
    requests.push_back({name, "", scaleModule(name, 2, more).text});
    outputs.push_back(path("out/" + name));
  }

  BatchResult run() {
    compiler::BuildDriver driver(std::make_shared<FakeGenerator>());
    return buildBatchInWorkers(driver, requests, outputs, options, batch, workers);
  }
};

bool isBuilt(const BuildReport& report) {
  return report.succeeded() && std::filesystem::exists(report.outcome.library);
}

std::vector<std::string> linesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  return lines;
}

} // namespace

TEST_CASE("report i is that of request i, and a second batch builds nothing") {
  BuildWorld world;
  for (int i = 0; i < 12; ++i)
    world.add("m" + std::to_string(i));
  const BatchResult first = world.run();
  REQUIRE(first.reports.size() == 12);
  for (size_t i = 0; i < first.reports.size(); ++i) {
    const BuildReport& report = first.reports[i];
    REQUIRE(isBuilt(report));
    CHECK((report.state == BuildState::Built));
    CHECK(report.outcome.link == world.outputs[i] + "/lib.so");
    REQUIRE(report.outcome.manifest);
    CHECK(report.outcome.manifest->entries[0].name == world.requests[i].name);
  }
  CHECK(first.progress.built == 12);
  const BatchResult second = world.run();
  CHECK(second.progress.reused == 12);
  CHECK(second.reports[3].outcome.key == first.reports[3].outcome.key);
}

TEST_CASE("equal modules are built once and copied") {
  BuildWorld world;
  world.add("one");
  world.requests.push_back(world.requests.front());
  world.outputs.push_back(world.path("out/other"));
  const BatchResult result = world.run();
  CHECK(result.progress.built == 1);
  CHECK(result.progress.reused == 1);
  CHECK(isBuilt(result.reports[1]));
  CHECK(result.reports[1].outcome.link == world.path("out/other/lib.so"));
}

TEST_CASE("a module is read from its file by the worker, and fails alone when it is not there") {
  BuildWorld world;
  world.folder.write("a.txt", scaleModule("a", 3).text);
  world.requests = {{"a", world.path("a.txt"), ""}, {"gone", world.path("gone.txt"), ""}};
  world.outputs = {world.path("out/a"), world.path("out/gone")};
  const BatchResult result = world.run();
  CHECK(isBuilt(result.reports[0]));
  REQUIRE(result.reports[1].failure.has_value());
  CHECK((result.reports[1].failure->kind == FailureKind::Unreadable));
  CHECK(result.progress.total == 2);
  CHECK(result.progress.failed == 1);
}

TEST_CASE("equal modules that are bad have each its own place") {
  BuildWorld world;
  world.add("a", "bad\n");
  world.requests.push_back({"b", "", world.requests.front().text});
  world.outputs.push_back(world.path("out/b"));
  const BatchResult result = world.run();
  CHECK(result.reports[0].failure->text() == "a:3: a bad module");
  CHECK(result.reports[1].failure->text() == "b:3: a bad module");
}

TEST_CASE("a bad module fails alone, with its place") {
  BuildWorld world;
  world.add("a");
  world.add("b", "bad\n");
  world.add("c");
  const BatchResult result = world.run();
  CHECK(result.progress.built == 2);
  REQUIRE(result.reports[1].failure.has_value());
  CHECK(result.reports[1].failure->text() == "b:3: a bad module");
}

TEST_CASE("a module that crashes its worker twice fails alone, with the signal") {
  BuildWorld world;
  for (int i = 0; i < 4; ++i)
    world.add("m" + std::to_string(i));
  world.requests[1].text += "crash\n";
  world.requests[2].text += "exit\n";
  const BatchResult result = world.run();
  CHECK(isBuilt(result.reports[0]));
  CHECK(isBuilt(result.reports[3]));
  REQUIRE(result.reports[1].failure.has_value());
  CHECK((result.reports[1].failure->kind == FailureKind::Crashed));
  CHECK(result.reports[1].failure->message.find("SIGSEGV") != std::string::npos);
  REQUIRE(result.reports[2].failure.has_value());
  CHECK(result.reports[2].failure->message.find("exit status 7") != std::string::npos);
}

TEST_CASE("a module whose worker died by chance is built by a fresh one") {
  BuildWorld world;
  world.batch.jobs = 1;
  const std::string record = "record " + world.path("processes") + "\n";
  world.add("a", record + "crash-once " + world.path("flag") + "\n");
  world.add("b", record);
  const BatchResult result = world.run();
  CHECK(result.progress.built == 2);
  const std::vector<std::string> processes = linesOf(world.path("processes"));
  REQUIRE(processes.size() == 3); // a, b, and a again: in three processes
  CHECK(std::set<std::string>(processes.begin(), processes.end()).size() == 3);
}

TEST_CASE("a module that takes too long is killed and fails alone") {
  BuildWorld world;
  world.add("a");
  world.add("b", "hang\n");
  world.add("c");
  world.workers.deadline = std::chrono::milliseconds(3000);
  const BatchResult result = world.run();
  CHECK(result.progress.built == 2);
  REQUIRE(result.reports[1].failure.has_value());
  CHECK((result.reports[1].failure->kind == FailureKind::TimedOut));
  CHECK(result.reports[1].failure->message == "not built within 3 s");
}

TEST_CASE("after a stop, what hangs is killed, and what was done is reported") {
  BuildWorld world;
  world.batch.jobs = 2;
  world.add("a");
  world.add("b", "hang\n");
  world.add("c");
  world.workers.grace = std::chrono::milliseconds(1);
  std::stop_source stop;
  world.batch.stop = stop.get_token();
  // The one that hangs is the last under way.
  world.batch.progress = [&](const compiler::BatchProgress& now) {
    if (now.finished == 2)
      stop.request_stop();
  };
  const BatchResult result = world.run();
  CHECK(result.progress.built == 2);
  CHECK((result.reports[1].state == BuildState::Cancelled));
}

TEST_CASE("a batch that is stopped before it begins builds nothing") {
  std::stop_source stop;
  stop.request_stop();
  for (const bool ofTheBatch : {true, false}) {
    BuildWorld world;
    world.add("a");
    (ofTheBatch ? world.batch.stop : world.options.stop) = stop.get_token();
    const BatchResult result = world.run();
    CHECK(result.progress.cancelled == 1);
    CHECK_FALSE(std::filesystem::exists(world.path("out/a")));
  }
}

TEST_CASE("workers that die before they begin end the batch") {
  BuildWorld world;
  world.add("a");
  world.add("b");
  world.workers.command = {NOCTURNE_TEST_WORKER, "--dead"};
  world.workers.restartLimit = 3;
  const BatchResult result = world.run();
  CHECK(result.progress.failed == 2);
  REQUIRE(result.reports[0].failure.has_value());
  CHECK((result.reports[0].failure->kind == FailureKind::Crashed));
  CHECK(result.reports[0].failure->message.find("exit status 5: no worker today") !=
        std::string::npos);
}

TEST_CASE("what a listener throws stops the batch and is thrown") {
  BuildWorld world;
  world.add("a");
  world.add("b");
  world.batch.progress = [](const compiler::BatchProgress&) { throw std::runtime_error("enough"); };
  CHECK_THROWS_WITH(world.run(), "enough");
}

TEST_CASE("arguments are checked before anything is built") {
  BuildWorld world;
  world.add("a");
  world.outputs.clear();
  CHECK_THROWS_AS(world.run(), UsageError);
}
