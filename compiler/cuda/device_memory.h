// Where the buffers of a call lie in its block of device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nocturne::compiler {

struct BufferLife {
  uint64_t bytes = 0;
  size_t first = 0, last = 0; // the first step that it has to exist at and the last
};

struct MemoryLayout {
  std::vector<uint64_t> offsets; // as the buffers
  uint64_t bytes = 0;
};

// First fit in the order given: buffers that are never needed at the same step may share memory.
MemoryLayout layOut(const std::vector<BufferLife>& buffers);

} // namespace nocturne::compiler
