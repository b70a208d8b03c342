// One module file as a worker sees it: its facts first, its table only when something needs it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "actors/work.h"
#include "actors/work_context.h"

namespace nocturne {

class ShardModule {
public:
  ShardModule(const WorkContext& context, const FileInfo& file);

  const Digest& contentHash() const { return file_.contentHash; }
  // Neither the process nor the file itself can say what it is: the cache may know.
  bool wantsEntry() const { return !facts_; }
  // What the cache knows, null for nothing; without it the file is read.
  void setEntry(FileEntry* entry);

  // Valid once the facts are known.
  const ModuleFacts& facts() const { return facts_->facts; }
  // Why all of its items fail, with the place; nothing when the module can be used.
  const std::optional<Failure>& failure() const { return failure_; }

  // The table is not in this process, and the cache may have it.
  bool wantsTable();
  void setTable(std::string bytes) { bytes_ = std::move(bytes); }
  // From this process, from what setTable() gave, or from the file. Throws ItemError.
  ModulePtr table();
  // Where the first row of a distinct operation stands; only the file when there is no telling.
  Failure placed(Failure failure, int64_t op);

  // What the cache should remember.
  std::optional<FileEntry> takeNewEntry() { return std::exchange(newEntry_, std::nullopt); }

private:
  Failure findPlace(int64_t op);
  ModulePtr load();
  ModulePtr parse();
  ModulePtr fromBytes();
  void read();
  void learn(FileFacts facts);

  const WorkContext& context_;
  const FileInfo file_;
  const std::string& path_;
  std::shared_ptr<const FileFacts> facts_;
  std::optional<Failure> failure_;
  ModulePtr table_;
  std::string bytes_; // a serialised table, not yet used
  std::optional<FileEntry> newEntry_;
  std::map<int64_t, Failure> places_; // of operations that were asked for; without kind and message
};

} // namespace nocturne
