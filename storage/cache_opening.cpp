// Which store a run gets, and what becomes of a cache that cannot be used.
#include <chrono>
#include <cstdint>
#include <utility>

#include <sys/stat.h>

#include "storage/atomic_file.h"
#include "storage/file_lock.h"
#include "storage/result_cache.h"

namespace nocturne {

namespace {

using namespace std::chrono_literals;

// How long a broken file may stay in use by another process before we go on without it.
constexpr auto kRepairPatience = 2s;

// Which file a name means at the moment.
struct FileIdentity {
  uint64_t device = 0, inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

FileIdentity identify(const std::string& path) {
  struct stat facts;
  if (::stat(path.c_str(), &facts) != 0)
    return {};
  return {static_cast<uint64_t>(facts.st_dev), static_cast<uint64_t>(facts.st_ino)};
}

// A cache file that is open. Everybody who has it open holds `cache.lock` shared: a database that
// is moved aside while somebody else has it open would take the new one's log with it when that
// other closes it.
struct OpenFile {
  std::optional<FileLock> lock; // first: released last. None when the directory cannot be written
  std::unique_ptr<SqliteResultStore> store;
  FileIdentity identity;
  bool writable = false;
};

// A result store over a file that may fail at any time. What goes wrong costs hits and adds a
// warning: a broken file is moved aside and a new one started, once; a file that can no longer be
// written is still read; new results then stay in memory.
class GuardedStore : public ResultStore {
public:
  explicit GuardedStore(std::string directory)
      : directory_(std::move(directory)), path_(directory_ + "/cache.sqlite") {
    open();
  }

  bool writable() const { return file_.store && file_.writable; }
  std::string path() const { return file_.store ? path_ : std::string(); }

  void begin() override {
    writing([&] { file_.store->begin(); });
  }
  void commit() override {
    writing([&] { file_.store->commit(); });
  }

  std::vector<std::optional<ResultRow>> find(std::span<const Digest> keys) override {
    std::vector<std::optional<ResultRow>> found(keys.size());
    reading([&] { found = file_.store->find(keys); });
    if (writable() && !memoryUsed_)
      return found;
    auto inMemory = memory_.find(keys);
    for (size_t i = 0; i < keys.size(); ++i)
      if (!found[i])
        found[i] = std::move(inMemory[i]);
    return found;
  }

  void put(std::span<const ResultRow> rows) override {
    if (!writing([&] { file_.store->put(rows); })) {
      memoryUsed_ = true;
      memory_.put(rows);
    }
  }

  std::optional<FileEntry> findFile(const Digest& contentHash, const std::string& readerText,
                                    bool withTable) override {
    std::optional<FileEntry> found;
    reading([&] { found = file_.store->findFile(contentHash, readerText, withTable); });
    return found ? found : memory_.findFile(contentHash, readerText, withTable);
  }

  void putFile(const FileEntry& entry) override {
    if (!writing([&] { file_.store->putFile(entry); }))
      memory_.putFile(entry);
  }

  void putConfiguration(const Digest& configuration, const std::string& estimator,
                        const std::string& options) override {
    writing([&] { file_.store->putConfiguration(configuration, estimator, options); });
  }

  std::string findDetails(const Digest& key) override {
    std::string found;
    reading([&] { found = file_.store->findDetails(key); });
    return found.empty() ? memory_.findDetails(key) : found;
  }

  void putDetails(const Digest& key, const std::string& text) override {
    if (!writing([&] { file_.store->putDetails(key, text); }))
      memory_.putDetails(key, text);
  }

  std::vector<std::string> takeWarnings() override { return std::exchange(warnings_, {}); }

private:
  // False when the file did not take it.
  template <typename Work>
  bool writing(const Work& work) {
    if (!writable())
      return false;
    try {
      work();
      return true;
    } catch (const StorageError& error) {
      if (error.kind() == StorageErrorKind::Corrupt) {
        replaceBrokenFile(error);
      } else {
        file_.writable = false;
        warn(error, "new results stay in memory");
      }
      return false;
    }
  }

  template <typename Work>
  void reading(const Work& work) {
    if (!file_.store)
      return;
    try {
      work();
    } catch (const StorageError& error) {
      if (error.kind() == StorageErrorKind::Corrupt) {
        replaceBrokenFile(error);
      } else {
        file_ = {};
        warn(error, "results stay in memory");
      }
    }
  }

  void open() {
    try {
      makeDirectories(directory_);
      openForWriting();
    } catch (const StorageError& error) {
      switch (error.kind()) {
      case StorageErrorKind::Corrupt:
        replaceBrokenFile(error);
        return;
      case StorageErrorKind::TooNew:
        warn(error, "results stay in memory");
        return;
      default:
        openReadOnly(error);
      }
    }
  }

  void openForWriting() {
    file_ = {};
    OpenFile file;
    file.lock = FileLock::acquire(lockPath(), FileLock::Mode::Shared, kRepairPatience);
    // A file that cannot even be opened is identified all the same.
    file_.identity = identify(path_);
    file.store = SqliteResultStore::create(path_);
    file.identity = identify(path_);
    file.writable = true;
    file_ = std::move(file);
  }

  void openReadOnly(const StorageError& reason) {
    file_ = {};
    try {
      file_.lock = FileLock::tryAcquire(lockPath(), FileLock::Mode::Shared);
    } catch (const StorageError&) {
      // No lock file can be made here, so nobody can move the file either.
    }
    try {
      file_.store = SqliteResultStore::openReadOnly(path_);
      file_.identity = identify(path_);
      warn(reason, "what is in the cache is used, new results stay in memory");
    } catch (const StorageError& error) {
      warn(reason,
           std::string("it cannot be read either (") + error.what() + "); results stay in memory");
    }
  }

  void replaceBrokenFile(const StorageError& reason) {
    FileIdentity broken = file_.identity;
    file_ = {};
    if (std::exchange(replaced_, true)) {
      warn(reason, "broken again; results stay in memory");
      return;
    }
    try {
      std::string kept = moveAside(broken);
      openForWriting();
      warn(reason, kept.empty() ? "it has been replaced already"
                                : "it is kept as " + kept + " and a new cache is started");
    } catch (const StorageError& error) {
      file_ = {};
      warn(reason,
           std::string("it cannot be replaced (") + error.what() + "); results stay in memory");
    }
  }

  // "" when somebody else has moved it already.
  std::string moveAside(const FileIdentity& broken) const {
    FileLock lock = FileLock::acquire(lockPath(), FileLock::Mode::Exclusive, kRepairPatience,
                                      "replacing a broken cache");
    if (identify(path_) != broken)
      return {};
    std::string kept = corruptName(path_);
    moveDatabase(path_, kept);
    return kept;
  }

  std::string lockPath() const { return directory_ + "/cache.lock"; }

  void warn(const StorageError& reason, const std::string& consequence) {
    warnings_.push_back("result cache: " + std::string(reason.what()) + "; " + consequence);
  }

  std::string directory_, path_;
  OpenFile file_;
  bool replaced_ = false;
  MemoryResultStore memory_;
  bool memoryUsed_ = false;
  std::vector<std::string> warnings_;
};

} // namespace

OpenedCache openResultCache(const std::string& directory, CacheMode mode) {
  switch (mode) {
  case CacheMode::InMemory:
    return {std::make_unique<MemoryResultStore>(), "", false};
  case CacheMode::Disabled:
    return {std::make_unique<NullResultStore>(), "", false};
  case CacheMode::OnDisk:
    break;
  }
  auto store = std::make_unique<GuardedStore>(directory);
  std::string path = store->path();
  bool writable = store->writable();
  return {std::move(store), std::move(path), writable};
}

OpenedCache openResultCache(const std::string& directory, CacheMode mode,
                            std::vector<std::string>& warnings) {
  OpenedCache opened = openResultCache(directory, mode);
  for (std::string& warning : opened.store->takeWarnings())
    warnings.push_back(std::move(warning));
  return opened;
}

} // namespace nocturne
