// Values that the supervisor, its workers and the cache actor exchange. Free of CAF.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "engine/digest.h"

namespace nocturne {

// One life of an estimator actor; a replacement gets a new number. 0 is nobody.
using WorkerId = uint64_t;

// For tables of result keys: their first bytes are the module's, and say little.
struct KeyHash {
  size_t operator()(const Digest& key) const noexcept {
    size_t value;
    std::memcpy(&value, key.bytes.data() + 16, sizeof(value));
    return value;
  }
};

// A file of the plan after it was hashed.
struct FileInfo {
  uint64_t module = 0; // index in the plan
  uint64_t bytes = 0;
  Digest contentHash;
  std::string error; // why it could not be read; empty when it could
};

// One module with some neighbouring points: a whole chunk of the plan, or a piece of one after
// deaths.
struct Shard {
  FileInfo file;
  uint64_t firstPoint = 0;
  uint32_t points = 0;
  uint32_t chunk = 0;  // index in ShardPlan::chunks()
  uint32_t deaths = 0; // of workers that had it
  uint64_t module() const { return file.module; }
};

// What came of a shard, in numbers. Items without a result that may be kept are neither hits nor
// computed.
struct ShardTally {
  uint64_t module = 0, firstPoint = 0;
  uint32_t points = 0, chunk = 0;
  uint32_t ok = 0, failed = 0, hits = 0, computed = 0;
};
// The tally of a shard of which nothing is done.
inline ShardTally emptyTally(const Shard& shard) {
  return {shard.module(), shard.firstPoint, shard.points, shard.chunk, 0, 0, 0, 0};
}

} // namespace nocturne
