// Files of a test.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "engine/temporary_folder.h"

namespace nocturne::test {

// "" when there is no such file.
inline std::string readText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void writeText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// A folder that is gone when the test is.
class ScratchDir : public TemporaryFolder {
public:
  // Children that give up their rights have to get in.
  ScratchDir() { std::filesystem::permissions(path(), std::filesystem::perms::all); }

  // Makes the folders in between; returns the file's path.
  std::string write(const std::string& name, const std::string& text = "") const {
    const std::string file = *this / name;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    writeText(file, text);
    return file;
  }
};

} // namespace nocturne::test
