#include <doctest/doctest.h>

#include <filesystem>

#include <dlfcn.h>

#include "tests/compiler/drivers/fixture.h"

namespace nocturne::test {

namespace fs = std::filesystem;
using namespace compiler;

namespace {

struct Bench {
  ScratchDir dir;
  std::shared_ptr<FakeGenerator> generator = std::make_shared<FakeGenerator>();
  BuildDriver driver{generator};
  std::string out = dir / "out";

  BuildOutcome build(const BuildOptions& options) {
    return driver.build(scaleModule("twice", 2), options);
  }
  BuildOutcome build() { return build(into(out)); }
};

std::string failureOf(const BuildReport& report) {
  REQUIRE(report.failure);
  return report.failure->text();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a build is a folder named by its key, and links that lead there") {
  Bench bench;
  const BuildOutcome outcome = bench.build();
  CHECK(outcome.built);
  CHECK(outcome.folder == bench.out + "/.nocturne/" + outcome.key.hex());
  CHECK(namesIn(outcome.folder) == std::vector<std::string>{"lib.so", "log.txt", "manifest.json"});
  CHECK(fs::read_symlink(bench.out + "/lib.so") == ".nocturne/" + outcome.key.hex() + "/lib.so");
  CHECK(fs::canonical(bench.out + "/manifest.json") ==
        fs::canonical(outcome.folder + "/manifest.json"));
  CHECK(contains(readText(outcome.folder + "/log.txt"), "compiled for cpu"));
  CHECK(namesIn(bench.out + "/.nocturne/tmp").empty());
  CHECK(outcome.manifest->entries.size() == 1);
  CHECK(callWithThree(CompiledModule::load(bench.out)->function("twice")) == 6);
}

TEST_CASE("the same build is made once, whichever driver is asked") {
  Bench bench;
  const BuildOutcome first = bench.build();
  const BuildOutcome second = bench.build();
  CHECK_FALSE(second.built);
  CHECK(second.library == first.library);
  CHECK(bench.generator->calls() == 1);
  const auto generator = std::make_shared<FakeGenerator>();
  BuildDriver other(generator);
  CHECK_FALSE(buildIrModule(other, scaleModule("twice", 2), bench.out, "cpu").built);
  CHECK(generator->calls() == 0);
}

TEST_CASE("a build that is forced replaces the folder, and who has the old library keeps it") {
  Bench bench;
  bench.build();
  const LoadedModule old = CompiledModule::load(bench.out);
  BuildOptions options = into(bench.out);
  options.force = true;
  CHECK(bench.build(options).built);
  CHECK(bench.generator->calls() == 2);
  CHECK(callWithThree(old->function("twice")) == 6);
  CHECK(CompiledModule::load(bench.out));
  CHECK_FALSE(bench.build().built);
}

TEST_CASE("another module in the folder takes the links and leaves the first build alone") {
  Bench bench;
  const BuildOutcome first = bench.build();
  bench.driver.build(scaleModule("thrice", 3), into(bench.out));
  CHECK(callWithThree(CompiledModule::load(bench.out)->function("thrice")) == 9);
  CHECK(callWithThree(CompiledModule::load(first.folder)->function("twice")) == 6);
  CHECK_FALSE(bench.build().built);
  CHECK(callWithThree(CompiledModule::load(bench.out)->function("twice")) == 6);
}

TEST_CASE("whatever code depends on is in the key, and the old folder stays") {
  Bench bench;
  const BuildOutcome first = bench.build();
  std::vector<BuildOptions> others(4, into(bench.out));
  others[0].target = "cpu --arch=x86-64-v3";
  others[1].flags = {"--fast-math"};
  others[2].keepIr = true;
  others[3].kind = OutputKind::Object;
  for (const BuildOptions& options : others) {
    const BuildOutcome other = bench.build(options);
    CHECK(other.built);
    CHECK(other.key != first.key);
    CHECK(CompiledModule::load(first.folder));
  }
  BuildDriver newer(std::make_shared<FakeGenerator>("fake 2"));
  CHECK(newer.build(scaleModule("twice", 2), into(bench.out)).key != first.key);
  CHECK_FALSE(bench.build().built);
}

TEST_CASE("a name of a module and the order of a target's options make no other key") {
  Bench bench;
  BuildOptions one = into(bench.out), other = one;
  one.target = "cpu --arch=native --features=+avx2";
  other.target = "cpu  --features=+avx2 --arch=fake-processor";
  ModuleSource module = scaleModule("twice", 2);
  const Digest key = bench.driver.key({&module, 1}, one);
  module.name = "renamed.mlir";
  CHECK(bench.driver.key({&module, 1}, other) == key);
}

TEST_CASE("a byte that changed is found at loading and by the next build") {
  Bench bench;
  const BuildOutcome outcome = bench.build();
  flipByte(outcome.library);
  const LoadedModule damaged = CompiledModule::load(bench.out);
  REQUIRE_FALSE(damaged);
  CHECK((damaged.failure().kind == FailureKind::Unreadable));
  CHECK(contains(damaged.failure().text(), "damaged"));
  CHECK(bench.build().built);
  CHECK(callWithThree(CompiledModule::load(bench.out)->function("twice")) == 6);

  flipByte(outcome.library);
  BuildDriver other(bench.generator); // has checked nothing yet
  CHECK(other.build(scaleModule("twice", 2), into(bench.out)).built);
  BuildOptions verify = into(bench.out);
  verify.verify = true;
  CHECK_FALSE(other.build(scaleModule("twice", 2), verify).built);
}

TEST_CASE("a folder without a whole library and manifest is built again") {
  Bench bench;
  const BuildOutcome outcome = bench.build();
  const std::string manifest = outcome.folder + "/manifest.json";
  fs::resize_file(outcome.library, 100);
  CHECK(bench.build().built);
  fs::remove(outcome.library);
  CHECK(bench.build().built);
  fs::remove(manifest);
  CHECK(bench.build().built);
  writeText(manifest, "{}");
  CHECK(bench.build().built);
  fs::remove(bench.out + "/lib.so");
  CHECK_FALSE(bench.build().built);
  CHECK(CompiledModule::load(bench.out));
}

TEST_CASE("a build that was copied from elsewhere without links and empty folders is used") {
  Bench bench;
  const BuildOutcome outcome = bench.build();
  for (const char* name : {"/lib.so", "/manifest.json", "/.nocturne/locks", "/.nocturne/tmp"})
    fs::remove_all(bench.out + name);
  CHECK_FALSE(BuildDriver(bench.generator).build(scaleModule("twice", 2), into(bench.out)).built);
  CHECK(fs::canonical(bench.out + "/lib.so") == fs::canonical(outcome.library));
}

TEST_CASE("several modules become one library") {
  Bench bench;
  const std::vector<ModuleSource> modules = {scaleModule("twice", 2), scaleModule("thrice", 3)};
  BuildOptions options = into(bench.out);
  options.keepIr = true;
  const BuildOutcome outcome = bench.driver.build(modules, options);
  CHECK(namesIn(outcome.folder) == std::vector<std::string>{"lib.so", "log.txt", "m0-module.mlir",
                                                            "m1-module.mlir", "manifest.json"});
  const LoadedModule loaded = CompiledModule::load(bench.out);
  CHECK(callWithThree(loaded->function("twice")) == 6);
  CHECK(callWithThree(loaded->function("thrice")) == 9);
  options.kind = OutputKind::Object;
  CHECK(bench.driver.build(modules, options).manifest->entries.size() == 2);
}

TEST_CASE("modules that clash in what is no entry fail with the words of the linker") {
  Bench bench;
  const std::vector<ModuleSource> modules = {scaleModule("twice", 2, "needs"),
                                             scaleModule("thrice", 3, "needs")};
  const BuildReport clash = bench.driver.tryBuild(modules, into(bench.out));
  CHECK(contains(failureOf(clash), "duplicate symbol: "));
  CHECK(namesIn(bench.out + "/.nocturne/tmp").empty());
}

TEST_CASE("two entries of one name are one clear error") {
  Bench bench;
  std::vector<ModuleSource> modules = {scaleModule("twice", 2), scaleModule("twice", 3)};
  modules[1].name = "other.mlir";
  const BuildReport report = bench.driver.tryBuild(modules, into(bench.out));
  CHECK(failureOf(report) == "other.mlir: entry \"twice\" is in twice.mlir as well; one library "
                             "cannot have both");
  CHECK((report.failure->kind == FailureKind::BadConfig));
}

TEST_CASE("a module that cannot be built fails with its name, and leaves nothing") {
  Bench bench;
  const BuildReport bad = bench.driver.tryBuild({"x.mlir", "bad"}, into(bench.out));
  CHECK((bad.state == BuildState::Failed));
  CHECK(failureOf(bad) == "x.mlir:3: a bad module");
  const BuildReport thrown = bench.driver.tryBuild({"y.mlir", "throw"}, into(bench.out));
  CHECK(failureOf(thrown) == "y.mlir: code generation: no error of ours");
  const BuildReport undefined =
      bench.driver.tryBuild(scaleModule("twice", 2, "needs"), into(bench.out));
  CHECK(contains(failureOf(undefined), "undefined symbol: nobody_has_this"));
  CHECK((undefined.failure->kind == FailureKind::ToolFailed));
  CHECK(namesIn(bench.out + "/.nocturne/tmp").empty());
  CHECK_FALSE(fs::exists(bench.out + "/lib.so"));
  CHECK_THROWS_AS(bench.driver.build({"x.mlir", "bad"}, into(bench.out)), ItemError);
}

TEST_CASE("what is asked for wrongly is said before anything is made") {
  Bench bench;
  BuildOptions options = into(bench.out);
  options.target = "tpu";
  CHECK_THROWS_AS(bench.build(options), UsageError);
  CHECK_THROWS_AS(bench.build(into("")), UsageError);
  CHECK_THROWS_AS(bench.driver.build(std::span<const ModuleSource>(), into(bench.out)), UsageError);
  CHECK((bench.driver.tryBuild(scaleModule("a", 1), options).failure->kind ==
         FailureKind::BadConfig));
  CHECK_FALSE(fs::exists(bench.out));
}

TEST_CASE("a linker that is missing is named with its package") {
  Bench bench;
  BuildDriver driver(bench.generator, Linker("ld.lld-none"));
  const BuildReport report = driver.tryBuild(scaleModule("twice", 2), into(bench.out));
  CHECK(failureOf(report) == "there is no linker \"ld.lld-none\": install the package lld-22");
  BuildOptions object = into(bench.out);
  object.kind = OutputKind::Object; // of one module: needs none
  CHECK(driver.tryBuild(scaleModule("twice", 2), object).succeeded());
}

TEST_CASE("what a linker says and does wrong is one line") {
  Bench bench;
  const auto problemWith = [&](const std::string& script) {
    const std::string linker = bench.dir / "linker";
    writeText(linker, "#!/bin/sh\n[ \"$1\" = --version ] && echo linker 1 && exit\n" + script);
    fs::permissions(linker, fs::perms::owner_all);
    BuildDriver driver(bench.generator, Linker(linker));
    return failureOf(driver.tryBuild(scaleModule("twice", 2), into(bench.out)));
  };
  CHECK(problemWith("printf 'a warning\\nld: error: no symbol x\\n>>> in y\\n' >&2; exit 1\n") ==
        "the linker failed: ld: error: no symbol x");
  CHECK(problemWith("echo unwell >&2; exit 3\n") == "the linker failed: exit status 3: unwell");
  CHECK(problemWith("kill -BUS $$\n") ==
        "the linker failed: there is no space left for the library");
  const std::string nothing =
      "the linker " + (bench.dir / "linker") + " ended well, and made no library";
  CHECK(problemWith("exit 0\n") == nothing);
  CHECK(problemWith("echo garbage > lib.so\n") == nothing);
  CHECK_FALSE(fs::exists(bench.out + "/lib.so"));
}

TEST_CASE("an object is built beside a library and cannot be loaded") {
  Bench bench;
  BuildOptions options = into(bench.out);
  options.kind = OutputKind::Object;
  bench.build();
  const BuildOutcome object = bench.build(options);
  CHECK(object.link == bench.out + "/lib.o");
  CHECK(readText(object.link)
            .starts_with("\x7f"
                         "ELF"));
  CHECK(CompiledModule::load(bench.out));
  CHECK((CompiledModule::load(object.link).failure().kind == FailureKind::BadConfig));
}

TEST_CASE("a library shows its entries and who it is, and nothing else") {
  Bench bench;
  const BuildOutcome outcome = bench.build();
  void* library = ::dlopen(outcome.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  CHECK(::dlsym(library, outcome.manifest->entries[0].symbol.c_str()) != nullptr);
  CHECK(::dlsym(library, "nobodys_business") == nullptr);
  const auto* identity = static_cast<const char*>(::dlsym(library, "nocturne.identity"));
  REQUIRE(identity != nullptr);
  CHECK(std::string(identity) == "nocturne abi=1 key=" + outcome.key.hex());
  ::dlclose(library);
}

TEST_CASE("kept forms lie beside the library") {
  Bench bench;
  BuildOptions options = into(bench.out);
  options.keepIr = true;
  const BuildOutcome outcome = bench.build(options);
  CHECK(readText(outcome.folder + "/module.mlir") == scaleModule("twice", 2).text);
}

TEST_CASE("a build that is stopped at any step leaves nothing") {
  for (const BuildStage stage : {BuildStage::Locked, BuildStage::Generated, BuildStage::Linking,
                                 BuildStage::Written, BuildStage::Sealed}) {
    Bench bench;
    std::stop_source source;
    BuildOptions options = into(bench.out);
    options.stop = source.get_token();
    options.onStage = [&](BuildStage reached) {
      if (reached == stage)
        source.request_stop();
    };
    CHECK((bench.driver.tryBuild(scaleModule("twice", 2), options).state == BuildState::Cancelled));
    CHECK(namesIn(bench.out + "/.nocturne") == std::vector<std::string>{"locks", "tmp"});
    CHECK(namesIn(bench.out + "/.nocturne/tmp").empty());
  }
}

TEST_CASE("a link as lock file is refused") {
  Bench bench;
  const ModuleSource module = scaleModule("twice", 2);
  const std::string locks = bench.out + "/.nocturne/locks/";
  fs::create_directories(locks);
  fs::create_symlink(bench.dir / "elsewhere",
                     locks + bench.driver.key({&module, 1}, into(bench.out)).hex());
  CHECK_THROWS_AS(bench.build(), StorageError);
  CHECK_FALSE(fs::exists(bench.dir / "elsewhere"));
}

} // namespace nocturne::test
