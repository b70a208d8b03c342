// Sums over the operations of one or more runs, by name, type and bound.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/result.h"
#include "estimators/fast_sum.h"

namespace nocturne {

// All executions of operations that share name, type of the rate and bound.
struct OpTotal {
  uint32_t slot = 0; // number of the name: see Estimator::slotName
  ElementKind datatype = ElementKind::None;
  Bound bound = Bound::Free;
  uint32_t next = 0; // chain of the slot, as place + 1
  AmountSum runs;
  TimeSum runtime;
  AmountSum flops, bytes;
};

class RunTotals {
public:
  // The entry for this combination, made when it is missing. The reference holds until the next
  // call.
  OpTotal& at(uint32_t slot, ElementKind datatype, Bound bound);
  const std::vector<OpTotal>& entries() const { return entries_; }
  void merge(const RunTotals& other);
  // The same when slots are numbered differently: `ourSlot` gives ours for each of theirs.
  template <typename OurSlot>
  void merge(const RunTotals& other, const OurSlot& ourSlot);
  void clear();
  // Names that are expected, so that at() need not grow.
  void reserve(size_t slots);

private:
  std::vector<OpTotal> entries_;
  std::vector<uint32_t> first_; // by slot: place + 1, 0 when there is none
};

template <typename OurSlot>
void RunTotals::merge(const RunTotals& other, const OurSlot& ourSlot) {
  for (const OpTotal& theirs : other.entries_) {
    OpTotal& ours = at(ourSlot(theirs.slot), theirs.datatype, theirs.bound);
    ours.runs.merge(theirs.runs);
    ours.runtime.merge(theirs.runtime);
    ours.flops.merge(theirs.flops);
    ours.bytes.merge(theirs.bytes);
  }
}

inline OpTotal& RunTotals::at(uint32_t slot, ElementKind datatype, Bound bound) {
  if (slot >= first_.size())
    first_.resize(slot + 1, 0);
  for (uint32_t place = first_[slot]; place != 0; place = entries_[place - 1].next) {
    OpTotal& entry = entries_[place - 1];
    if (entry.datatype == datatype && entry.bound == bound)
      return entry;
  }
  OpTotal& entry = entries_.emplace_back();
  entry.slot = slot;
  entry.datatype = datatype;
  entry.bound = bound;
  entry.next = first_[slot];
  first_[slot] = static_cast<uint32_t>(entries_.size());
  return entry;
}

} // namespace nocturne
