#include "actors/file_ahead.h"

#include <condition_variable>

#include <doctest/doctest.h>

#include "tests/actors/fakes.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {

// Collects what arrives and lets a test wait for it.
struct Collector {
  FileAhead::Sink sink() {
    return [this](std::vector<FileInfo> more, bool isLast) {
      std::lock_guard lock(mutex);
      files.insert(files.end(), more.begin(), more.end());
      last = last || isLast;
      changed.notify_all();
    };
  }
  void waitFor(size_t count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return files.size() >= count; });
  }
  void waitForLast() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return last; });
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<FileInfo> files;
  bool last = false;
};

SweepPlan planOf(const ScratchDir& folder, int count) {
  std::vector<std::string> files;
  for (int i = 0; i < count; ++i)
    files.push_back(folder.write(std::to_string(i), std::string(static_cast<size_t>(i), 'x')));
  return tinyPlan(files, 1);
}

} // namespace

TEST_CASE("files come hashed, in plan order, and unwanted ones not at all") {
  ScratchDir folder;
  SweepPlan plan = planOf(folder, 100);
  plan.modules[3].path += ".missing";
  Collector collector;
  FileAhead ahead(plan, 3);
  std::vector<bool> wanted(100, true);
  wanted[1] = false;
  ahead.start(wanted, 100, collector.sink());
  collector.waitForLast();
  REQUIRE(collector.files.size() == 99);
  CHECK(collector.files[0].module == 0);
  CHECK(collector.files[1].module == 2);
  CHECK(collector.files[1].contentHash == hashBytes("xx"));
  CHECK(collector.files[2].error == "cannot be opened: No such file or directory");
  CHECK(collector.files[98].bytes == 99);
}

TEST_CASE("reading goes no further than it is allowed to") {
  ScratchDir folder;
  SweepPlan plan = planOf(folder, 300);
  Collector collector;
  {
    FileAhead ahead(plan, 2);
    ahead.start(std::vector<bool>(300, true), 100, collector.sink());
    collector.waitFor(100);
    CHECK(collector.files.size() == 100);
    ahead.allow(200);
    collector.waitFor(200);
  }
  CHECK(collector.files.size() == 200);
  CHECK_FALSE(collector.last);
}

TEST_CASE("an empty plan ends at once") {
  SweepPlan plan = tinyPlan({}, 1);
  Collector collector;
  FileAhead ahead(plan, 1);
  ahead.start({}, 0, collector.sink());
  collector.waitForLast();
  CHECK(collector.files.empty());
}

TEST_CASE("what is wrong with a file is told without being thrown") {
  ScratchDir folder;
  FileInfo info = hashedInfo(7, folder.path());
  CHECK(info.module == 7);
  CHECK(info.error == "is a directory");
  CHECK(hashedInfo(0, folder.write("fine", "xyz")).error.empty());
}
