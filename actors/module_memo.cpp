#include "actors/module_memo.h"

namespace nocturne {

size_t tableBytes(const Module& module) {
  // An operation with its types and attributes is several small vectors.
  constexpr size_t kBytesOfOp = 512;
  return sizeof(Module) + module.rows.size() * sizeof(OpRow) + module.ops.size() * kBytesOfOp +
         module.valueIds.size() * sizeof(uint32_t);
}

ModuleMemo::ModuleMemo(size_t maxTableBytes, size_t maxFacts)
    : maxTableBytes_(maxTableBytes), maxFacts_(maxFacts) {}

std::shared_ptr<const FileFacts> ModuleMemo::facts(const Digest& contentHash) const {
  std::lock_guard lock(mutex_);
  auto found = facts_.find(contentHash);
  return found == facts_.end() ? nullptr : found->second;
}

void ModuleMemo::remember(const Digest& contentHash, FileFacts facts) {
  auto shared = std::make_shared<const FileFacts>(std::move(facts));
  std::lock_guard lock(mutex_);
  if (!facts_.try_emplace(contentHash, std::move(shared)).second)
    return;
  factsOrder_.push_back(contentHash);
  if (factsOrder_.size() > maxFacts_) {
    facts_.erase(factsOrder_.front());
    factsOrder_.pop_front();
  }
}

ModulePtr ModuleMemo::find(const Digest& contentHash) {
  auto entry = entries_.find(contentHash);
  if (entry == entries_.end())
    return nullptr;
  ModulePtr table = entry->second.table.lock();
  if (table && entry->second.place != recent_.end())
    recent_.splice(recent_.begin(), recent_, entry->second.place);
  else if (table)
    keep(contentHash, table);
  return table;
}

ModulePtr ModuleMemo::loadedTable(const Digest& contentHash) {
  std::lock_guard lock(mutex_);
  return find(contentHash);
}

ModulePtr ModuleMemo::table(const Digest& contentHash, const std::function<ModulePtr()>& load) {
  std::promise<ModulePtr> promise;
  std::shared_future<ModulePtr> other;
  {
    std::lock_guard lock(mutex_);
    if (ModulePtr table = find(contentHash))
      return table;
    Entry& entry = entries_.try_emplace(contentHash, Entry{{}, {}, recent_.end()}).first->second;
    if (entry.loading.valid())
      other = entry.loading;
    else
      entry.loading = promise.get_future().share();
  }
  if (other.valid())
    return other.get();
  try {
    ModulePtr table = load();
    {
      std::lock_guard lock(mutex_);
      entries_.at(contentHash).loading = {};
      keep(contentHash, table);
    }
    promise.set_value(table);
    return table;
  } catch (...) {
    {
      std::lock_guard lock(mutex_);
      entries_.erase(contentHash);
    }
    promise.set_exception(std::current_exception());
    throw;
  }
}

void ModuleMemo::keep(const Digest& contentHash, const ModulePtr& table) {
  Entry& entry = entries_.at(contentHash);
  entry.table = table;
  recent_.emplace_front(contentHash, table);
  entry.place = recent_.begin();
  bytes_ += tableBytes(*table);
  drop();
}

// Drops the tables used longest ago, but never the latest, and forgets what nobody uses any more.
void ModuleMemo::drop() {
  while (bytes_ > maxTableBytes_ && recent_.size() > 1) {
    auto& [hash, table] = recent_.back();
    bytes_ -= tableBytes(*table);
    entries_.at(hash).place = recent_.end();
    recent_.pop_back();
  }
  if (entries_.size() > 2 * recent_.size() + 64)
    std::erase_if(entries_, [](const auto& entry) {
      return entry.second.table.expired() && !entry.second.loading.valid();
    });
}

} // namespace nocturne
