#include <doctest/doctest.h>

#include "compiler/codegen/flags.h"
#include "compiler/tuning/candidates.h"
#include "compiler/tuning/task.h"
#include "engine/error.h"
#include "tests/compiler/drivers/fixture.h"

namespace nocturne::test {

using namespace compiler;

namespace {

// The mistake that reading `text` as a task gives.
std::string mistake(const std::string& text) {
  ScratchDir dir;
  writeText(dir / "task.json", text);
  writeText(dir / "m.mlir", "module {}");
  writeText(dir / "empty.mlir", "");
  try {
    readTask(dir / "task.json");
  } catch (const UsageError& error) {
    return std::string(error.what()).substr((dir / "task.json").size());
  }
  return "none";
}

std::vector<std::string> namesOf(const Task& task, const std::string& target) {
  std::vector<std::string> names;
  for (const Candidate& candidate : candidatesOf(task, parseTarget(target)))
    names.push_back(candidate.name);
  return names;
}

} // namespace

TEST_CASE("a task is read with the files that it names") {
  ScratchDir dir;
  writeText(dir / "m.mlir", "module {}");
  writeText(dir / "tall.mlir", "// a schedule");
  writeText(dir / "other.mlir", "module @other {}");
  writeText(dir / "task.json", R"({"schema": 1, "name": "product", "payload": "m.mlir",
      "entry": "main", "search_space": 2, "tolerance": 1e-3, // looser
      "candidates": [{"name": "tall", "schedule": "tall.mlir"},
                     {"name": "level 1", "flags": ["--opt-level=1"]},
                     {"name": "own", "module": "other.mlir"}]})");
  const Task task = readTask(dir / "task.json");
  CHECK(task.name == "product");
  CHECK(task.payload.text == "module {}");
  CHECK(task.entry == "main");
  CHECK((task.searchSpace == SearchSpace::Large));
  CHECK(task.tolerance == 1e-3);
  REQUIRE(task.candidates.size() == 3);
  CHECK(task.candidates[0].schedule == "// a schedule");
  CHECK(task.candidates[1].flags == std::vector<std::string>{"--opt-level=1"});
  CHECK(task.candidates[2].module->text == "module @other {}");
}

TEST_CASE("a module is a task with the defaults") {
  ScratchDir dir;
  writeText(dir / "layer.mlir", "module {}");
  const Task task = readTask(dir / "layer.mlir");
  CHECK(task.name == "layer");
  CHECK(task.payload.name == "layer.mlir");
  CHECK((task.searchSpace == SearchSpace::Small));
  CHECK(task.candidates.empty());
}

TEST_CASE("mistakes in a task name their place") {
  CHECK(mistake(R"({"payload": "m.mlir"})").find("/schema") != std::string::npos);
  CHECK(mistake(R"({"schema": 1})").find("/payload") != std::string::npos);
  CHECK(mistake(R"({"schema": 1, "payload": "m.mlir", "serch_space": 1})").find("search_space") !=
        std::string::npos);
  CHECK(mistake(R"({"schema": 1, "payload": "m.mlir", "search_space": 3})").find("0, 1 or 2") !=
        std::string::npos);
  CHECK(mistake(R"({"schema": 1, "payload": "m.mlir", "tolerance": -1})").find("/tolerance") !=
        std::string::npos);
  CHECK(mistake(R"({"schema": 1, "payload": "m.mlir", "candidates": [{"flags": []}]})")
            .find("/candidates/0") != std::string::npos);
  CHECK(mistake(R"({"schema": 1, "payload": "m.mlir",
                    "candidates": [{"name": "a"}, {"name": "a"}]})")
            .find("/candidates/1") != std::string::npos);
  CHECK(mistake("{").find("parse error") != std::string::npos);
  CHECK_THROWS_AS(readTask("/nowhere/task.json"), UsageError);
  CHECK_THROWS_AS(readTask("/nowhere/layer.mlir"), UsageError);
  const std::string noFile = mistake(R"({"schema": 1, "payload": "m.mlir",
      "candidates": [{"name": "a", "schedule": "nowhere.mlir"}]})");
  CHECK(noFile.find("/candidates/0/schedule") != std::string::npos);
  CHECK(noFile.find("nowhere.mlir: cannot be opened") != std::string::npos);
  CHECK(mistake(R"({"schema": 1, "payload": "m.mlir",
                    "candidates": [{"name": "a", "schedule": "empty.mlir"}]})")
            .find("empty.mlir is empty") != std::string::npos);
}

TEST_CASE("the search space grows with its level and with what the payload has") {
  Task task;
  task.payload.text = "stablehlo.add";
  task.candidates.push_back({"own", "", {}, {}});
  task.searchSpace = SearchSpace::Default;
  CHECK(namesOf(task, "cpu") == std::vector<std::string>{"usual", "own"});
  task.searchSpace = SearchSpace::Small;
  CHECK(namesOf(task, "cpu") == std::vector<std::string>{"usual", "own", "plain"});
  task.payload.text = "stablehlo.dot_general";
  const size_t few = namesOf(task, "cpu").size();
  CHECK(few > 3);
  task.searchSpace = SearchSpace::Large;
  CHECK(namesOf(task, "cpu").size() > few);
  CHECK(namesOf(task, "cuda") == std::vector<std::string>{"usual", "own"});
}

TEST_CASE("all flags of candidates are flags of the code generator") {
  Task task;
  task.payload.text = "stablehlo.dot_general";
  task.searchSpace = SearchSpace::Large;
  for (const Candidate& candidate : candidatesOf(task, parseTarget("cpu"))) {
    CompileOptions options;
    readFlags(flagsOf(candidate), options);
    CHECK(options.schedule == candidate.schedule);
  }
  CompileOptions options;
  readFlags({"--products=8,3,0,512"}, options);
  CHECK(options.products == ProductSizes{8, 3, 0, 512});
  CHECK_THROWS_AS(readFlags({"--products=8,3"}, options), UsageError);
  CHECK_THROWS_AS(readFlags({"--products=8,3,0,512,1"}, options), UsageError);
  CHECK_THROWS_AS(readFlags({"--products=8,x,0,0"}, options), UsageError);
  CHECK_THROWS_AS(readFlags({"--products=99,0,0,0"}, options), UsageError);
  CHECK_THROWS_AS(readFlags({"--opt-level=4"}, options), UsageError);
  CHECK_THROWS_AS(readFlags({"--unknown"}, options), UsageError);
  CHECK_THROWS_AS(readFlags({"--plain", "--schedule=x"}, options), UsageError);
}

} // namespace nocturne::test
