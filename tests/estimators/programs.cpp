#include "tests/estimators/programs.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>
#include <sys/stat.h>

namespace nocturne::test {

namespace fs = std::filesystem;

std::vector<std::string> shell(const std::string& script) {
  return {"sh", "-c", script};
}

Tools::Tools() {
  std::string name = (fs::temp_directory_path() / "nocturne-tools-XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  path_ = name;
}

Tools::~Tools() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string Tools::write(const std::string& name, const std::string& script) const {
  const std::string path = file(name);
  std::ofstream(path) << "#!/bin/sh\n" << script << '\n';
  ::chmod(path.c_str(), 0755);
  return path;
}

std::string contentOf(const std::string& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace nocturne::test
