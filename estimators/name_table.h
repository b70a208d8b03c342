// A fixed set of names, numbered from 0, found by one short hash: once per operation and point.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace nocturne {

class NameTable {
public:
  static constexpr uint32_t kNone = UINT32_MAX;

  NameTable() : NameTable(std::vector<std::string>()) {}
  explicit NameTable(std::vector<std::string> names);
  uint32_t find(std::string_view name) const;
  size_t size() const { return names_.size(); }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& operator[](uint32_t index) const { return names_[index]; }

private:
  static uint64_t hash(std::string_view name);
  std::vector<std::string> names_;
  std::vector<uint32_t> buckets_; // index into names_, kNone where empty; a power of two of them
};

inline uint64_t NameTable::hash(std::string_view name) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
  uint64_t state = name.size() * kFactor;
  size_t at = 0;
  for (; at + 8 <= name.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, name.data() + at, 8);
    state = (state ^ word) * kFactor;
    state ^= state >> 32;
  }
  uint64_t rest = 0;
  std::memcpy(&rest, name.data() + at, name.size() - at);
  state = (state ^ rest) * kFactor;
  return state ^ state >> 32;
}

inline uint32_t NameTable::find(std::string_view name) const {
  if (buckets_.empty())
    return kNone;
  size_t mask = buckets_.size() - 1;
  for (size_t at = hash(name) & mask;; at = (at + 1) & mask) {
    uint32_t index = buckets_[at];
    if (index == kNone || names_[index] == name)
      return index;
  }
}

} // namespace nocturne
