// Programs of a few lines of shell that stand in for foreign ones.
#pragma once

#include <string>
#include <vector>

#include "tests/support/scratch_dir.h"

namespace nocturne::test {

std::vector<std::string> shell(const std::string& script);

// A folder of such programs.
class Tools {
public:
  // Returns the program's path.
  std::string write(const std::string& name, const std::string& script) const;
  std::string file(const std::string& name) const { return folder_ / name; }
  const std::string& path() const { return folder_.path(); }

private:
  ScratchDir folder_;
};

} // namespace nocturne::test
