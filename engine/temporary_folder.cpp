#include "engine/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "engine/error.h"

namespace nocturne {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string& message) {
  throw ItemError({FailureKind::ToolFailed, message, "", 0, 0});
}

} // namespace

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    const char* named = std::getenv("TMPDIR");
    fail(std::string(named == nullptr ? "/tmp" : named) +
         " is no folder for temporary files: " + error.message());
  }
  std::string name = (parent / "nocturne-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    fail(name + ": cannot be made: " + std::generic_category().message(errno));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void TemporaryFolder::write(std::string_view name, std::string_view content) const {
  const std::string path = *this / name;
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!file.flush())
    fail(path + ": cannot be written");
}

} // namespace nocturne
