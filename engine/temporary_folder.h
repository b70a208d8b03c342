// A folder for files that nobody else is to see.
#pragma once

#include <string>
#include <string_view>

namespace nocturne {

// Made in the system's folder for temporary files; gone, with what is in it, at the end of the
// scope. Making it and writing to it throw ItemError (tool_failed): whoever needs it cannot work.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + '/' + std::string(name); }
  void write(std::string_view name, std::string_view content) const;

private:
  std::string path_;
};

} // namespace nocturne
