#include "engine/temporary_folder.h"

#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>

#include "engine/error.h"
#include "tests/support/scratch_dir.h"

using namespace nocturne;

namespace {

// The folder that the system has for temporary files, while this lives.
class TemporaryPlace {
public:
  explicit TemporaryPlace(const std::string& path) {
    if (const char* before = std::getenv("TMPDIR"))
      before_ = before;
    ::setenv("TMPDIR", path.c_str(), 1);
  }
  ~TemporaryPlace() {
    if (before_.empty())
      ::unsetenv("TMPDIR");
    else
      ::setenv("TMPDIR", before_.c_str(), 1);
  }
  TemporaryPlace(const TemporaryPlace&) = delete;
  TemporaryPlace& operator=(const TemporaryPlace&) = delete;

private:
  std::string before_;
};

} // namespace

TEST_CASE("a temporary folder is there for as long as its scope, and only for its owner") {
  std::string path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    folder.write("file", std::string("a\0b", 3));
    CHECK(test::readText(folder / "file") == std::string("a\0b", 3));
    CHECK((std::filesystem::status(path).permissions() == std::filesystem::perms::owner_all));
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("what cannot be made or written is a tool that failed") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(folder.write("no/file", ""), (folder / "no/file: cannot be written").c_str(),
                       ItemError);
  const TemporaryPlace nowhere(folder / "nowhere");
  CHECK_THROWS_AS(TemporaryFolder(), ItemError);
}
