// Module tables and facts by content, shared by the estimator actors of a process.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "engine/services.h"

namespace nocturne {

// What is known of a file's content without its table.
struct FileFacts {
  ModuleFacts facts;
  // Set when the content is no module that can be used; `file` is empty, the place being in the
  // file at hand.
  std::optional<Failure> failure;
};

// Bytes that a table takes in memory, roughly.
size_t tableBytes(const Module& module);

// Thread-safe. Keeps the tables used last, up to a number of bytes; one that is still in use
// elsewhere is found even after it was dropped from here. Facts of the last few thousand files.
class ModuleMemo {
public:
  explicit ModuleMemo(size_t maxTableBytes, size_t maxFacts = 1024);

  std::shared_ptr<const FileFacts> facts(const Digest& contentHash) const;
  void remember(const Digest& contentHash, FileFacts facts);

  // nullptr when the table is not loaded.
  ModulePtr loadedTable(const Digest& contentHash);
  // Runs `load` unless the table is here; waits where another thread is loading it already. What
  // `load` throws reaches everybody who waits, and the next caller tries again.
  ModulePtr table(const Digest& contentHash, const std::function<ModulePtr()>& load);

private:
  struct Entry {
    std::weak_ptr<const Module> table;
    std::shared_future<ModulePtr> loading;                   // valid while a thread loads it
    std::list<std::pair<Digest, ModulePtr>>::iterator place; // in recent_, end() when not there
  };

  ModulePtr find(const Digest& contentHash); // with the lock held
  void keep(const Digest& contentHash, const ModulePtr& table);
  void drop();

  const size_t maxTableBytes_, maxFacts_;
  mutable std::mutex mutex_; // guards everything below
  std::unordered_map<Digest, Entry> entries_;
  std::list<std::pair<Digest, ModulePtr>> recent_; // latest use first
  size_t bytes_ = 0;                               // of recent_
  std::unordered_map<Digest, std::shared_ptr<const FileFacts>> facts_;
  std::deque<Digest> factsOrder_; // oldest first
};

} // namespace nocturne
