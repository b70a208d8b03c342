#include "compiler/codegen/runtime_libraries.h"

#include <algorithm>
#include <filesystem>

namespace nocturne::compiler {

std::vector<std::string> runtimeLibraries() {
  // Part of what libgcc has for 16-bit floats is in its archive only.
  std::vector<std::string> found;
  std::error_code ignored;
  std::filesystem::directory_iterator versions("/usr/lib/gcc/x86_64-linux-gnu", ignored), end;
  for (; versions != end; versions.increment(ignored))
    if (std::string path = versions->path() / "libgcc.a"; std::filesystem::exists(path, ignored))
      found.push_back(path);
  // One is enough, and it should always be the same.
  if (found.size() > 1)
    found = {*std::max_element(found.begin(), found.end())};
  return found;
}

} // namespace nocturne::compiler
