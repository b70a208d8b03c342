// How much memory there is for us.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nocturne::tools {

// The least limit, in bytes, of the control groups (of version 2 or 1) that a process is in and of
// those around them; nothing when none of them has one. `groups` is the process's
// /proc/self/cgroup, `mount` the folder /sys/fs/cgroup.
std::optional<uint64_t> groupMemoryLimit(std::string_view groups, const std::string& mount);

// What the machine has, or this process's control groups allow, whichever is less; 0 when it is not
// known.
uint64_t availableMemory();

} // namespace nocturne::tools
