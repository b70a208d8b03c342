// Builders in several processes, some of which are killed.
#include <doctest/doctest.h>

#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/file_bytes.h"
#include "tests/compiler/drivers/fixture.h"

namespace nocturne::test {

namespace fs = std::filesystem;
using namespace compiler;

namespace {

// The only folder of a build below `outputDir`, or "".
std::string publishedIn(const std::string& outputDir) {
  for (const std::string& name : namesIn(outputDir + "/.nocturne"))
    if (name.size() == 64)
      return outputDir + "/.nocturne/" + name;
  return "";
}

} // namespace

TEST_CASE("two processes that want the same build make it once and see the same library") {
  ScratchDir dir;
  const std::string out = dir / "out", counted = dir / "count";
  Program first(probe(out, "generated", {"--count", counted}));
  REQUIRE(first.readLine() == "generated");
  Program second(probe(out, "", {"--count", counted}));
  first.goOn();
  const std::string one = first.readLine(), other = second.readLine();
  CHECK(one.starts_with("built "));
  CHECK(other.starts_with("reused "));
  CHECK(one.substr(one.find(' ')) == other.substr(other.find(' ')));
  CHECK(readText(counted).size() == 1);
}

TEST_CASE("a builder that is killed at any step leaves nothing half done, and the next succeeds") {
  for (const std::string step :
       {"locked", "generated", "linking", "written", "sealed", "published", "linked"}) {
    CAPTURE(step);
    ScratchDir dir;
    const std::string out = dir / "out";
    Program victim(probe(out, step));
    REQUIRE(victim.readLine() == step);
    victim.kill();
    const bool published = step == "published" || step == "linked";
    CHECK(publishedIn(out).empty() != published);
    if (published)
      CHECK(CompiledModule::load(publishedIn(out)));
    CHECK(fs::exists(out + "/lib.so") == (step == "linked"));
    CHECK(namesIn(out + "/.nocturne/tmp").empty() == published);

    Program next(probe(out, ""));
    CHECK(next.readLine().starts_with(published ? "reused " : "built "));
    CHECK(next.wait() == 0);
    CHECK(namesIn(out + "/.nocturne/tmp").empty());
    const LoadedModule loaded = CompiledModule::load(out);
    REQUIRE(loaded);
    CHECK(callWithThree(loaded->function("twice")) == 6);
  }
}

TEST_CASE("a killed rebuild leaves the library that was there") {
  ScratchDir dir;
  const std::string out = dir / "out";
  Program first(probe(out, ""));
  REQUIRE(first.readLine().starts_with("built "));
  const Digest before = hashFile(out + "/lib.so").contentHash;
  for (const std::string step : {"generated", "sealed"}) {
    Program victim(probe(out, step, {"--force"}));
    REQUIRE(victim.readLine() == step);
    victim.kill();
    CHECK(hashFile(out + "/lib.so").contentHash == before);
    CHECK(CompiledModule::load(out));
  }
}

TEST_CASE("a linker that outlives its builder cannot change what is published") {
  ScratchDir dir;
  const std::string out = dir / "out", begun = dir / "begun", go = dir / "go", end = dir / "end";
  for (const std::string& fifo : {begun, go, end})
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  // It leaves the group of the program, and writes when it is told to, over the name that it was
  // given and over every library that it can see from there.
  writeText(dir / "linker", "#!/bin/sh\n"
                            "if [ \"$1\" = --version ]; then exec ld.lld-22 --version; fi\n"
                            "setsid sh -c 'echo > " +
                                begun + "; read x < " + go +
                                "; echo rubbish > lib.so; echo rubbish > \"$0/lib.so\"; echo > " +
                                end + "' \"$PWD\" < /dev/null > /dev/null 2>&1 &\n" + "wait\n");
  fs::permissions(dir / "linker", fs::perms::owner_all);
  Program victim(probe(out, "linking", {"--linker", dir / "linker"}));
  REQUIRE(victim.readLine() == "linking");
  victim.goOn();
  CHECK(readText(begun) == "\n");
  victim.kill();

  Program next(probe(out, ""));
  REQUIRE(next.readLine().starts_with("built "));
  const Digest digest = hashFile(out + "/lib.so").contentHash;
  writeText(go, "now\n");
  CHECK(readText(end) == "\n");
  CHECK(hashFile(out + "/lib.so").contentHash == digest);
  CHECK(callWithThree(CompiledModule::load(out)->function("twice")) == 6);
}

TEST_CASE("who waits too long learns who builds, where and since when") {
  ScratchDir dir;
  const std::string out = dir / "out";
  Program holder(probe(out, "generated"));
  REQUIRE(holder.readLine() == "generated");
  Program waiter(probe(out, "", {"--timeout", "100"}));
  const std::string line = waiter.readLine();
  CAPTURE(line);
  CHECK(line.starts_with("failed "));
  CHECK(line.find("not free within 100 ms") != std::string::npos);
  CHECK(line.find("held by pid " + std::to_string(holder.pid()) + " (builds on ") !=
        std::string::npos);
  CHECK(line.find(" since 2") != std::string::npos);
}

TEST_CASE("a wait for another process ends when a stop is asked for") {
  ScratchDir dir;
  const std::string out = dir / "out";
  Program holder(probe(out, "generated"));
  REQUIRE(holder.readLine() == "generated");
  BuildDriver driver(std::make_shared<FakeGenerator>("fake 1"));
  std::stop_source source;
  BuildOptions options = into(out);
  options.stop = source.get_token();
  BuildReport report;
  std::jthread waiter([&] { report = driver.tryBuild(scaleModule("twice", 2), options); });
  source.request_stop();
  waiter.join();
  CHECK((report.state == BuildState::Cancelled));
}

TEST_CASE("threads of one process that want the same build make it once") {
  ScratchDir dir;
  const auto generator = std::make_shared<FakeGenerator>();
  BuildDriver driver(generator);
  std::vector<BuildReport> reports(8);
  {
    std::vector<std::jthread> threads;
    for (BuildReport& report : reports)
      threads.emplace_back(
          [&] { report = driver.tryBuild(scaleModule("twice", 2), into(dir / "out")); });
  }
  CHECK(generator->calls() == 1);
  int built = 0;
  for (const BuildReport& report : reports) {
    CHECK(report.succeeded());
    built += report.state == BuildState::Built;
  }
  CHECK(built == 1);
}

} // namespace nocturne::test
