#include "tests/estimators/programs.h"

#include <sys/stat.h>

namespace nocturne::test {

std::vector<std::string> shell(const std::string& script) {
  return {"sh", "-c", script};
}

std::string Tools::write(const std::string& name, const std::string& script) const {
  const std::string path = folder_.write(name, "#!/bin/sh\n" + script + '\n');
  ::chmod(path.c_str(), 0755);
  return path;
}

} // namespace nocturne::test
