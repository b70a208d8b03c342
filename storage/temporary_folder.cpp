#include "storage/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "engine/error.h"

namespace nocturne {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "nocturne-XXXXXX";
  if (!mkdtemp(pattern.data()))
    throw StorageError(StorageErrorKind::Other,
                       pattern + ": cannot be made: " + std::strerror(errno));
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void TemporaryFolder::write(std::string_view name, std::string_view content) const {
  const std::string path = *this / name;
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!file.flush())
    throw StorageError(StorageErrorKind::Full, path + ": cannot be written");
}

} // namespace nocturne
