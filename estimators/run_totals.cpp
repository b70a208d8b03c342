#include "estimators/run_totals.h"

#include <algorithm>

namespace nocturne {

void RunTotals::merge(const RunTotals& other) {
  merge(other, [](uint32_t slot) { return slot; });
}

void RunTotals::clear() {
  entries_.clear();
  std::fill(first_.begin(), first_.end(), 0);
}

void RunTotals::reserve(size_t slots) {
  if (first_.size() < slots)
    first_.resize(slots, 0);
}

} // namespace nocturne
