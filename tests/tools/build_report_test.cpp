// What nocturne build says.
#include "tools/build_report.h"

#include <doctest/doctest.h>

#include "engine/error.h"

using namespace nocturne;
using namespace nocturne::tools;
using compiler::BatchResult;
using compiler::BuildState;
using Names = std::vector<std::string>;

namespace {

Names foldersOf(const Names& names) {
  std::vector<ModuleFile> modules;
  for (const std::string& name : names)
    modules.push_back({"/data/" + name, name});
  return buildFolders(modules, "out");
}

BatchResult oneOfEach() {
  BatchResult result;
  result.reports.resize(3);
  result.reports[0].state = BuildState::Built;
  result.reports[0].seconds = 1.5;
  result.reports[0].outcome.link = "out/a/lib.so";
  result.reports[0].outcome.key = hashBytes("a");
  result.reports[1].state = BuildState::Failed;
  result.reports[1].failure = Failure{FailureKind::UnsupportedOp, "no\nlowering", "b.mlir", 3, 5};
  result.reports[2].state = BuildState::Cancelled;
  result.reports[2].failure = Failure{FailureKind::TimedOut, "stopped", "", 0, 0};
  result.progress.total = result.progress.finished = 3;
  result.progress.built = result.progress.failed = result.progress.cancelled = 1;
  result.progress.seconds = 2;
  return result;
}

const std::vector<ModuleFile>& modules() {
  static const std::vector<ModuleFile> files = {
      {"a.mlir", "a.mlir"}, {"b.mlir", "b.mlir"}, {"c.mlir", "c.mlir"}};
  return files;
}

} // namespace

TEST_CASE("a module is built in the folder of its name") {
  CHECK(foldersOf({"a.mlir", "m/b.mlir", "m/c.d.mlir"}) == Names{"out/a", "out/m/b", "out/m/c.d"});
  CHECK(foldersOf({"../up/a.mlir", "../../b.mlir"}) == Names{"out/up/a", "out/b"});
}

TEST_CASE("modules that differ in their extension keep it") {
  CHECK(foldersOf({"a.mlir", "a.mlirbc", "b.mlir"}) ==
        Names{"out/a.mlir", "out/a.mlirbc", "out/b"});
}

TEST_CASE("modules that would share a folder are a mistake") {
  CHECK_THROWS_AS(foldersOf({"a.mlir", "../a.mlir"}), UsageError);
}

TEST_CASE("nothing is built in the root of the file system because the folder has no name") {
  CHECK_THROWS_AS(buildFolders({{"/data/a.mlir", "a.mlir"}}, ""), UsageError);
}

TEST_CASE("modules that were cancelled are not done") {
  const Progress progress = progressOf(oneOfEach().progress);
  CHECK(progress.itemsDone == 2);
  CHECK(progress.itemsTotal == 3);
  CHECK(progress.itemsFailed == 1);
}

TEST_CASE("failures are a table, and everything is counted") {
  CHECK(toText(modules(), oneOfEach(), false) ==
        "module  failure         place       message\n"
        "b.mlir  unsupported_op  b.mlir:3:5  no lowering\n"
        "3 modules: 1 built, 0 reused, 1 failed, 1 not built, in 2.000 s\n");
  CHECK(toText({}, {}, true).empty());
}

TEST_CASE("each module has a state, and what belongs to it") {
  const OrderedJson json = toJson(modules(), oneOfEach());
  CHECK(json["modules"][0]["state"] == "built");
  CHECK(json["modules"][0]["library"] == "out/a/lib.so");
  CHECK(json["modules"][0]["key"] == hashBytes("a").hex());
  CHECK(json["modules"][0]["failure"].is_null());
  CHECK(json["modules"][1]["failure"]["kind"] == "unsupported_op");
  CHECK(json["modules"][1]["failure"]["line"] == 3);
  CHECK(json["modules"][1]["library"].is_null());
  CHECK(json["modules"][2]["state"] == "cancelled");
  CHECK(json["built"] == 1);
  CHECK(json["cancelled"] == 1);
}
