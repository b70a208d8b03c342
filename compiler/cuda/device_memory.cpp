#include "compiler/cuda/device_memory.h"

#include <algorithm>

#include "compiler/cuda/plan.h"

namespace nocturne::compiler {

namespace {

uint64_t rounded(uint64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

bool meet(const BufferLife& a, const BufferLife& b) {
  return a.first <= b.last && b.first <= a.last;
}

} // namespace

MemoryLayout layOut(const std::vector<BufferLife>& buffers) {
  MemoryLayout layout;
  std::vector<size_t> placed; // by offset
  for (size_t i = 0; i < buffers.size(); ++i) {
    const uint64_t bytes = rounded(buffers[i].bytes);
    uint64_t offset = 0;
    for (size_t other : placed) {
      if (!meet(buffers[i], buffers[other]))
        continue;
      if (offset + bytes <= layout.offsets[other])
        break;
      offset = std::max(offset, layout.offsets[other] + rounded(buffers[other].bytes));
    }
    layout.offsets.push_back(offset);
    layout.bytes = std::max(layout.bytes, offset + bytes);
    const auto place =
        std::upper_bound(placed.begin(), placed.end(), offset, [&](uint64_t wanted, size_t other) {
          return wanted < layout.offsets[other];
        });
    placed.insert(place, i);
  }
  return layout;
}

} // namespace nocturne::compiler
