#include <doctest/doctest.h>

#include "compiler/drivers/manifest.h"

namespace nocturne::test {

using namespace compiler;

namespace {

Manifest sample() {
  Manifest manifest;
  manifest.key = hashBytes("key");
  manifest.target = "cpu --arch=x86-64-v3";
  manifest.generator = "generator 1";
  manifest.linker = "linker 1";
  manifest.flags = {"--fast-math"};
  manifest.modules = {hashBytes("a"), hashBytes("b")};
  manifest.entries = {{"main",
                       "n_main",
                       {{LibraryArgument::Direction::In, "f32", {2, LibraryArgument::kDynamic}, 4},
                        {LibraryArgument::Direction::Out, "i64", {}, 8}}}};
  manifest.features = {"x86-64-v3"};
  manifest.library = "lib.so";
  manifest.libraryBytes = 1234;
  manifest.libraryDigest = hashBytes("library");
  manifest.files = {"module.mlir", "log.txt"};
  return manifest;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t place = text.find(from);
  REQUIRE(place != std::string::npos);
  return text.replace(place, from.size(), to);
}

StorageErrorKind problemOf(const std::string& text) {
  try {
    parseManifest(text, "m.json");
  } catch (const StorageError& error) {
    CHECK(std::string(error.what()).starts_with("m.json: "));
    return error.kind();
  }
  return StorageErrorKind::Other;
}

} // namespace

TEST_CASE("a manifest survives being written and read") {
  CHECK(parseManifest(toJson(sample()), "m.json") == sample());
}

TEST_CASE("a manifest that is cut off or says impossible things is corrupt") {
  const std::string text = toJson(sample());
  for (size_t size = 0; size + 2 < text.size(); size += 7)
    CHECK(problemOf(text.substr(0, size)) == StorageErrorKind::Corrupt);
  CHECK(problemOf(replaced(text, "\"lib.so\"", "\"../lib.so\"")) == StorageErrorKind::Corrupt);
  CHECK(problemOf(replaced(text, "\"rank\": 2", "\"rank\": 3")) == StorageErrorKind::Corrupt);
  CHECK(problemOf(replaced(text, "\"in\"", "\"inout\"")) == StorageErrorKind::Corrupt);
  CHECK(problemOf(replaced(text, hashBytes("key").hex(), "abc")) == StorageErrorKind::Corrupt);
}

TEST_CASE("a manifest of another version is told from a damaged one") {
  const std::string text = toJson(sample());
  CHECK(problemOf(replaced(text, "\"schema\": 1", "\"schema\": 2")) == StorageErrorKind::TooNew);
  CHECK(problemOf(replaced(text, "\"abi\": 1", "\"abi\": 2")) == StorageErrorKind::TooNew);
  CHECK(problemOf(replaced(text, "\"schema\": 1", "\"schema\": 1.5")) == StorageErrorKind::Corrupt);
}

} // namespace nocturne::test
