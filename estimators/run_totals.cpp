#include "estimators/run_totals.h"

#include <algorithm>

namespace nocturne {

void RunTotals::merge(const RunTotals& other) {
  for (const OpTotal& theirs : other.entries_) {
    OpTotal& ours = at(theirs.slot, theirs.datatype, theirs.bound);
    ours.runs.merge(theirs.runs);
    ours.runtime.merge(theirs.runtime);
    ours.flops.merge(theirs.flops);
    ours.bytes.merge(theirs.bytes);
  }
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
