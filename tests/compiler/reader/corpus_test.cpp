#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>

#include "compiler/reader/reader.h"
#include "engine/error.h"

using namespace nocturne;
using namespace nocturne::compiler;

namespace {

// A collection of real files may lie beside the sources; it is not part of the project.
std::filesystem::path corpusFolder() {
  if (const char* folder = std::getenv("NOCTURNE_CORPUS"))
    return folder;
  return std::filesystem::path(NOCTURNE_SOURCE_DIR).parent_path() / "shared" / "corpus";
}

std::filesystem::path folderOf(const char* name) {
  return corpusFolder() / name;
}

bool isAbsent(const char* name) {
  return !std::filesystem::is_directory(folderOf(name));
}

struct Count {
  size_t files = 0, read = 0;
};

Count readAll(const char* folder) {
  Count count;
  for (const auto& entry : std::filesystem::directory_iterator(folderOf(folder))) {
    if (entry.path().extension() != ".mlir")
      continue;
    ++count.files;
    try {
      readModule(entry.path().string());
      ++count.read;
    } catch (const ItemError& error) {
      MESSAGE(error.failure().text());
    }
  }
  return count;
}

// At most `allowed` of the files of a folder may fail.
void demand(const char* folder, size_t allowed) {
  Count count = readAll(folder);
  CHECK(count.files > 0);
  CHECK(count.files - count.read <= allowed);
}

} // namespace

// What is absent is skipped by the decorators of the tests below, which doctest counts as skipped.
TEST_CASE("a part of the corpus that is absent is named") {
  for (const char* folder : {"hespas-fixtures", "real", "testdata", "foreign", "broken", "forms"})
    if (isAbsent(folder))
      MESSAGE("skipped: there is no " << folderOf(folder).string()
                                      << " (NOCTURNE_CORPUS names the folder above it)");
}

TEST_CASE("the corpus is read: small models and a training step" *
          doctest::skip(isAbsent("hespas-fixtures"))) {
  demand("hespas-fixtures", 0);
}

TEST_CASE("the corpus is read: models as frameworks write them" * doctest::skip(isAbsent("real"))) {
  demand("real", 5);
}

TEST_CASE("the corpus is read: programs of one operation" * doctest::skip(isAbsent("testdata"))) {
  demand("testdata", 30);
}

TEST_CASE("the corpus is read: what is foreign fails without harm" *
          doctest::skip(isAbsent("foreign"))) {
  CHECK(readAll("foreign").files > 0);
}

TEST_CASE("the corpus is read: what is broken fails without harm" *
          doctest::skip(isAbsent("broken"))) {
  CHECK(readAll("broken").files > 0);
}

TEST_CASE("the corpus is read: generic forms have the fingerprint of their text" *
          doctest::skip(isAbsent("forms") || isAbsent("real"))) {
  constexpr std::string_view kEnding = ".generic.mlir";
  for (const auto& entry : std::filesystem::directory_iterator(folderOf("forms"))) {
    std::string name = entry.path().filename().string();
    if (!name.ends_with(kEnding))
      continue;
    name.resize(name.size() - kEnding.size());
    ModulePtr text = readModule((folderOf("real") / (name + ".mlir")).string());
    ModulePtr generic = readModule(entry.path().string());
    CHECK_MESSAGE(text->fingerprint == generic->fingerprint, name);
  }
}
