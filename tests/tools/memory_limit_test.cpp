#include "tools/memory_limit.h"

#include <doctest/doctest.h>

#include "tests/support/scratch_dir.h"

using namespace nocturne;
using namespace nocturne::tools;

namespace {

struct Groups {
  void limit(const std::string& file, const std::string& text) const {
    mount.write(file, text + '\n');
  }
  std::optional<uint64_t> of(const std::string& groups) const {
    return groupMemoryLimit(groups, mount.path());
  }

  test::ScratchDir mount;
};

} // namespace

TEST_CASE("the least limit of a group and of those around it holds") {
  const Groups groups;
  groups.limit("a/memory.max", "1000");
  groups.limit("a/b/memory.max", "3000");
  groups.limit("a/b/c/memory.max", "max");
  CHECK(groups.of("0::/a/b/c\n") == 1000);
  CHECK(groups.of("0::/a\n") == 1000);
  CHECK_FALSE(groups.of("0::/\n"));
  CHECK_FALSE(groups.of("0::/elsewhere\n"));
}

TEST_CASE("limits of the first version of control groups hold as well") {
  const Groups groups;
  groups.limit("memory/memory.limit_in_bytes", "9223372036854771712");
  groups.limit("memory/job/memory.limit_in_bytes", "5000");
  groups.limit("unified/job/memory.max", "7000");
  CHECK(groups.of("5:cpu,cpuacct:/job\n4:memory:/job\n0::/\n") == 5000);
  CHECK(groups.of("4:hugetlb,memory:/job\n") == 5000);
  CHECK(groups.of("4:memory:/\n0::/job\n") == 7000);
  CHECK_FALSE(groups.of("5:cpu:/job\n"));
}

TEST_CASE("what a container sees of its group is the container's own") {
  const Groups groups;
  groups.limit("memory.max", "2000");
  CHECK(groups.of("0::/host/container\n") == 2000);
  CHECK(groups.of("0::/../../other") == 2000);
}

TEST_CASE("what is no list of groups has no limit, and this machine has memory") {
  const Groups groups;
  for (const char* text : {"", "\n\n", "0", "0:", "memory", "0:memory"})
    CHECK_FALSE(groups.of(text));
  CHECK(availableMemory() > 0);
}
