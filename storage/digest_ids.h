// Small integers for digests that many rows share.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "storage/database.h"

namespace nocturne {

// The two-way map of a table (id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, ...). It
// remembers what it has looked up, up to a bound, since a sweep asks for the same few again and
// again.
class DigestIds {
public:
  DigestIds(const Database& database, const std::string& table);

  // The id of a digest; a row is added when there is none.
  int64_t intern(const Digest& digest);
  // Throws StorageError(Corrupt) for an id that the table lacks.
  Digest digest(int64_t id);
  // After a rollback: ids that were given in that transaction are void.
  void forget();

private:
  std::string table_, path_; // for messages
  Statement byDigest_, byId_, insert_;
  std::unordered_map<Digest, int64_t> ids_;
  std::unordered_map<int64_t, Digest> digests_;
};

} // namespace nocturne
