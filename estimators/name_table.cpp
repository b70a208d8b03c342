#include "estimators/name_table.h"

#include <bit>
#include <utility>

namespace nocturne {

NameTable::NameTable(std::vector<std::string> names) : names_(std::move(names)) {
  // At most a quarter full, so that most look-ups compare one name.
  buckets_.assign(std::bit_ceil(names_.size() * 4 + 1), kNone);
  size_t mask = buckets_.size() - 1;
  for (uint32_t index = 0; index < names_.size(); ++index) {
    size_t at = hash(names_[index]) & mask;
    while (buckets_[at] != kNone)
      at = (at + 1) & mask;
    buckets_[at] = index;
  }
}

} // namespace nocturne
