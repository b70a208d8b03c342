#include "storage/digest_ids.h"

namespace nocturne {

namespace {

constexpr size_t kRemembered = 1 << 15; // of each map: two megabytes

// A full map starts anew: what is in use is soon back.
template <typename Map>
void remember(Map& map, const typename Map::key_type& key, const typename Map::mapped_type& value) {
  if (map.size() >= kRemembered)
    map.clear();
  map.emplace(key, value);
}

} // namespace

DigestIds::DigestIds(const Database& database, const std::string& table)
    : table_(table), path_(database.path()),
      byDigest_(database.prepare("SELECT id FROM " + table + " WHERE digest = ?1")),
      byId_(database.prepare("SELECT digest FROM " + table + " WHERE id = ?1")),
      insert_(database.prepare("INSERT INTO " + table + " (digest) VALUES (?1) RETURNING id")) {}

int64_t DigestIds::intern(const Digest& digest) {
  if (auto known = ids_.find(digest); known != ids_.end())
    return known->second;
  int64_t id = 0;
  StatementScope scope(byDigest_);
  if (byDigest_.bind(1, digest).step()) {
    id = byDigest_.integer(0);
  } else {
    StatementScope insertScope(insert_);
    insert_.bind(1, digest).step();
    id = insert_.integer(0);
  }
  remember(ids_, digest, id);
  return id;
}

Digest DigestIds::digest(int64_t id) {
  if (auto known = digests_.find(id); known != digests_.end())
    return known->second;
  StatementScope scope(byId_);
  if (!byId_.bind(1, id).step())
    throw StorageError(StorageErrorKind::Corrupt,
                       path_ + ": table " + table_ + " lacks row " + std::to_string(id));
  Digest digest = byId_.digest(0);
  remember(digests_, id, digest);
  return digest;
}

void DigestIds::forget() {
  ids_.clear();
  digests_.clear();
}

} // namespace nocturne
