#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <optional>
#include <thread>

#include "compiler/drivers/processor.h"
#include "tests/compiler/drivers/fixture.h"

namespace nocturne::test {

namespace fs = std::filesystem;
using namespace compiler;

TEST_CASE("a library is loaded from its folder, the folder of its build, or by its own name") {
  ScratchDir dir;
  BuildDriver driver(std::make_shared<FakeGenerator>());
  const BuildOutcome outcome = driver.build(scaleModule("twice", 2), into(dir / "out"));
  for (const std::string& path : {dir / "out", outcome.folder, outcome.library, outcome.link}) {
    const LoadedModule loaded = CompiledModule::load(path);
    REQUIRE(loaded);
    CHECK(loaded->entries().size() == 1);
    CHECK(loaded->manifest().key == outcome.key);
    REQUIRE(loaded->entry("twice") != nullptr);
    CHECK(loaded->entry("twice")->entry().arguments.size() == 2);
    CHECK(loaded->entry("other") == nullptr);
    CHECK_THROWS_WITH_AS(loaded->function("twcie"),
                         "the library has no entry \"twcie\"; did you mean \"twice\"?", UsageError);
  }
}

TEST_CASE("what is missing, no library, or without a manifest is a value, not an exception") {
  ScratchDir dir;
  CHECK((CompiledModule::load(dir / "none").failure().kind == FailureKind::Unreadable));
  CHECK((CompiledModule::load(dir.path()).failure().kind == FailureKind::Unreadable));
  writeText(dir / "lib.so", "no library");
  CHECK((CompiledModule::load(dir.path()).failure().kind == FailureKind::Unreadable));
  writeText(dir / "manifest.json", "{}");
  const LoadedModule loaded = CompiledModule::load(dir.path());
  CHECK(loaded.failure().text().find("not a manifest") != std::string::npos);
  CHECK_THROWS_AS(loaded.value(), ItemError);
}

TEST_CASE("a function outlives the module that it is from") {
  ScratchDir dir;
  BuildDriver driver(std::make_shared<FakeGenerator>());
  driver.build(scaleModule("twice", 2), into(dir / "out"));
  std::optional<CompiledFunction> function;
  {
    const LoadedModule loaded = CompiledModule::load(dir / "out");
    function = loaded->function("twice");
  }
  fs::remove_all(dir / "out");
  CHECK(callWithThree(*function) == 6);
}

TEST_CASE("a call with too few or too many arguments is refused") {
  ScratchDir dir;
  BuildDriver driver(std::make_shared<FakeGenerator>());
  driver.build(scaleModule("twice", 2), into(dir / "out"));
  const CompiledFunction function = CompiledModule::load(dir / "out")->function("twice");
  std::array<void*, 3> arguments{};
  CHECK(function.call({arguments.data(), 1}) == kWrongCount);
  CHECK(function.call({arguments.data(), 3}) == kWrongCount);
}

TEST_CASE("threads call one function at the same time") {
  ScratchDir dir;
  BuildDriver driver(std::make_shared<FakeGenerator>());
  driver.build(scaleModule("twice", 2), into(dir / "out"));
  const CompiledFunction function = CompiledModule::load(dir / "out")->function("twice");
  std::array<bool, 4> right{};
  {
    std::vector<std::jthread> threads;
    for (bool& all : right)
      threads.emplace_back([&all, function] {
        all = true;
        for (int i = 0; i < 1000; ++i)
          all = all && callWithThree(function) == 6;
      });
  }
  for (const bool all : right)
    CHECK(all);
}

TEST_CASE("a library for another processor is not loaded") {
  ScratchDir dir;
  BuildDriver driver(std::make_shared<FakeGenerator>());
  driver.build(scaleModule("twice", 2, "feature x86-64\nfeature no-such-feature\n"),
               into(dir / "out"));
  const LoadedModule loaded = CompiledModule::load(dir / "out");
  REQUIRE_FALSE(loaded);
  CHECK((loaded.failure().kind == FailureKind::BadConfig));
  CHECK(loaded.failure().message == "built for \"cpu\"; this processor has no no-such-feature");
}

#ifdef __x86_64__
TEST_CASE("features are known by the names of compilers and of the kernel") {
  CHECK(processorHas("x86-64"));
  CHECK(processorHas("sse2"));
  CHECK(processorHas("64bit"));
  CHECK(processorHas("sse3"));
  CHECK(processorHas("sse4.2") == processorHas("sse4-2"));
  CHECK(missingFeatures({"sse2", "xyz", "x86-64"}) == std::vector<std::string>{"xyz"});
}

TEST_CASE("features that kernels leave out are those of the processor") {
  CHECK(processorHas("shstk") == (__builtin_cpu_supports("shstk") != 0));
  CHECK(processorHas("wbnoinvd") == (__builtin_cpu_supports("wbnoinvd") != 0));
  CHECK(processorHas("ptwrite") == (__builtin_cpu_supports("ptwrite") != 0));
}
#endif

} // namespace nocturne::test
