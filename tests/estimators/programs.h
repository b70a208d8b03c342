// Programs of a few lines of shell that stand in for foreign ones.
#pragma once

#include <string>
#include <vector>

namespace nocturne::test {

std::vector<std::string> shell(const std::string& script);

// A folder of such programs.
class Tools {
public:
  Tools();
  ~Tools();
  Tools(const Tools&) = delete;
  Tools& operator=(const Tools&) = delete;
  // Returns the program's path.
  std::string write(const std::string& name, const std::string& script) const;
  std::string file(const std::string& name) const { return path_ + '/' + name; }
  const std::string& path() const { return path_; }

private:
  std::string path_;
};

// "" when there is no such file.
std::string contentOf(const std::string& path);

} // namespace nocturne::test
