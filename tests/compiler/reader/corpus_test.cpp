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

struct Count {
  size_t files = 0, read = 0;
};

Count readAll(const std::filesystem::path& folder) {
  Count count;
  if (!std::filesystem::is_directory(folder)) {
    MESSAGE("skipped: there is no " << folder.string());
    return count;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
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
  Count count = readAll(corpusFolder() / folder);
  CHECK(count.files - count.read <= allowed);
}

} // namespace

TEST_CASE("the corpus is read: small models and a training step") {
  demand("hespas-fixtures", 0);
}

TEST_CASE("the corpus is read: models as frameworks write them") {
  demand("real", 5);
}

TEST_CASE("the corpus is read: programs of one operation") {
  demand("testdata", 30);
}

TEST_CASE("the corpus is read: what is foreign or broken fails without harm") {
  readAll(corpusFolder() / "foreign");
  readAll(corpusFolder() / "broken");
}

TEST_CASE("the corpus is read: generic forms have the fingerprint of their text") {
  std::filesystem::path forms = corpusFolder() / "forms";
  if (!std::filesystem::is_directory(forms)) {
    MESSAGE("skipped: there is no " << forms.string());
    return;
  }
  constexpr std::string_view kEnding = ".generic.mlir";
  for (const auto& entry : std::filesystem::directory_iterator(forms)) {
    std::string name = entry.path().filename().string();
    if (!name.ends_with(kEnding))
      continue;
    name.resize(name.size() - kEnding.size());
    ModulePtr text = readModule((corpusFolder() / "real" / (name + ".mlir")).string());
    ModulePtr generic = readModule(entry.path().string());
    CHECK_MESSAGE(text->fingerprint == generic->fingerprint, name);
  }
}
