#include "compiler/cuda/device_memory.h"

#include <doctest/doctest.h>

namespace nocturne::compiler {

TEST_CASE("buffers that are needed at the same time lie apart") {
  const MemoryLayout layout = layOut({{100, 0, 3}, {300, 1, 2}, {1, 2, 2}});
  CHECK(layout.offsets == std::vector<uint64_t>{0, 256, 768});
  CHECK(layout.bytes == 1024);
}

TEST_CASE("memory is used again after a buffer's last step") {
  const MemoryLayout layout = layOut({{256, 0, 9}, {512, 0, 1}, {256, 2, 3}, {256, 3, 4}});
  CHECK(layout.offsets == std::vector<uint64_t>{0, 256, 256, 512});
  CHECK(layout.bytes == 768);
}

TEST_CASE("a gap is filled only by what fits") {
  const MemoryLayout layout = layOut({{256, 0, 0}, {256, 0, 9}, {512, 1, 2}, {256, 1, 2}});
  CHECK(layout.offsets == std::vector<uint64_t>{0, 256, 512, 0});
}

} // namespace nocturne::compiler
