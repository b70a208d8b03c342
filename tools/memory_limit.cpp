#include "tools/memory_limit.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

namespace nocturne::tools {

namespace {

namespace fs = std::filesystem;

// "" where there is no such file.
std::string textOf(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Nothing for "max" as well.
std::optional<uint64_t> numberIn(const fs::path& path) {
  const std::string text = textOf(path);
  uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() ? std::optional(value) : std::nullopt;
}

// Of a group and all around it, as far as they can be seen: in a container the outermost that is
// there is the container's own.
std::optional<uint64_t> leastLimit(const fs::path& mount, fs::path group, const char* file) {
  std::optional<uint64_t> least;
  for (;; group = group.parent_path()) {
    if (const std::optional<uint64_t> limit = numberIn(mount / group / file))
      least = std::min(least.value_or(*limit), *limit);
    if (group.empty())
      return least;
  }
}

bool hasMemory(std::string_view controllers) {
  return (',' + std::string(controllers) + ',').find(",memory,") != std::string::npos;
}

// Of a line "NUMBER:CONTROLLERS:/GROUP". Version 2 is the line without controllers, and is mounted
// below where version 1 is in use as well.
std::optional<uint64_t> limitOfLine(std::string_view line, const fs::path& mount) {
  const size_t first = line.find(':');
  const size_t second = line.find(':', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos)
    return std::nullopt;
  const std::string_view controllers = line.substr(first + 1, second - first - 1);
  fs::path group = fs::path(line.substr(second + 1)).relative_path();
  if (group.string().starts_with("..")) // outside of what this process can see
    group.clear();
  if (hasMemory(controllers))
    return leastLimit(mount / "memory", group, "memory.limit_in_bytes");
  if (!controllers.empty())
    return std::nullopt;
  const fs::path below = mount / "unified";
  return leastLimit(fs::exists(below) ? below : mount, group, "memory.max");
}

} // namespace

std::optional<uint64_t> groupMemoryLimit(std::string_view groups, const std::string& mount) {
  std::optional<uint64_t> least;
  while (!groups.empty()) {
    const std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(line.size() + 1, groups.size()));
    if (const std::optional<uint64_t> limit = limitOfLine(line, mount))
      least = std::min(least.value_or(*limit), *limit);
  }
  return least;
}

uint64_t availableMemory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
  const uint64_t machine =
      pages > 0 && bytes > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(bytes) : 0;
  const std::optional<uint64_t> limit =
      groupMemoryLimit(textOf("/proc/self/cgroup"), "/sys/fs/cgroup");
  return limit && (machine == 0 || *limit < machine) ? *limit : machine;
}

} // namespace nocturne::tools
