// The result cache: cache.sqlite, its stand-ins, and the rules for which of them is used.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/services.h"
#include "storage/database.h"
#include "storage/digest_ids.h"

namespace nocturne {

// cache.sqlite. Rowid tables: `results` (one narrow row a key, numbers, the configuration and the
// module as integers), `result_details` (metadata and statistics of those results of which somebody
// wanted them), `configurations` and `estimators` (how results were made), `modules`
// (fingerprints), `files` and `readers` (content hash and reader text -> facts and table). Rows
// and details are only ever added; what is put twice is kept as it was first, since equal keys have
// equal results.
// Rows are appended in the order of computation, so that the rows of one shard are neighbours; so
// are their keys, which begin with the module's digest (see resultKey). Rejected: WITHOUT ROWID,
// which is four times slower as soon as rows with long notes need overflow pages, and one blob per
// module, which would make two runs that share a cache rewrite each other's rows.
//
// Several processes may have the file open. One thread at a time.
class SqliteResultStore : public ResultStore {
public:
  // Makes the file when it is missing, migrates an older one. Throws StorageError.
  static std::unique_ptr<SqliteResultStore> create(const std::string& path);
  // An existing file for reading only: every put throws.
  static std::unique_ptr<SqliteResultStore> openReadOnly(const std::string& path);
  ~SqliteResultStore() override;

  void begin() override;
  void commit() override;
  std::vector<std::optional<ResultRow>> find(std::span<const Digest> keys) override;
  // After a put that throws nothing of the open transaction remains.
  // Outside begin() and commit() each put is a transaction of its own.
  void put(std::span<const ResultRow> rows) override;
  // A file that was put without its table is not found when the table is wanted.
  std::optional<FileEntry> findFile(const Digest& contentHash, const std::string& readerText,
                                    bool withTable) override;
  void putFile(const FileEntry& entry) override;
  void putConfiguration(const Digest& configuration, const std::string& estimator,
                        const std::string& options) override;
  std::string findDetails(const Digest& key) override;
  void putDetails(const Digest& key, const std::string& text) override;

private:
  struct Statements;
  SqliteResultStore(Database database, size_t version);
  template <typename Work>
  void write(const Work& work);
  ResultRow readRow(const Digest& key);
  void insertRow(const ResultRow& row);
  std::string readTable(const Digest& contentHash, const std::string& readerText);
  void forgetIds();

  Database database_;
  std::unique_ptr<Statements> statements_;
  DigestIds configurations_;
  DigestIds modules_;
};

// Keeps everything in memory, for in_memory_only_cache and as a stand-in. One thread at a time.
class MemoryResultStore : public ResultStore {
public:
  void begin() override {}
  void commit() override {}
  std::vector<std::optional<ResultRow>> find(std::span<const Digest> keys) override;
  void put(std::span<const ResultRow> rows) override;
  std::optional<FileEntry> findFile(const Digest& contentHash, const std::string& readerText,
                                    bool withTable) override;
  void putFile(const FileEntry& entry) override;
  void putConfiguration(const Digest&, const std::string&, const std::string&) override {}
  std::string findDetails(const Digest& key) override;
  void putDetails(const Digest& key, const std::string& text) override;

private:
  std::unordered_map<Digest, ResultRow> rows_;
  std::unordered_map<Digest, std::string> details_; // compressed
  // By content hash and reader text; tables are compressed.
  std::unordered_map<std::string, FileEntry> files_;
};

// Finds nothing and keeps nothing, for disable_cache.
class NullResultStore : public ResultStore {
public:
  void begin() override {}
  void commit() override {}
  std::vector<std::optional<ResultRow>> find(std::span<const Digest> keys) override;
  void put(std::span<const ResultRow>) override {}
  std::optional<FileEntry> findFile(const Digest&, const std::string&, bool) override { return {}; }
  void putFile(const FileEntry&) override {}
  void putConfiguration(const Digest&, const std::string&, const std::string&) override {}
  std::string findDetails(const Digest&) override { return {}; }
  void putDetails(const Digest&, const std::string&) override {}
};

struct OpenedCache {
  // Never null and never throws StorageError: what goes wrong later costs hits, not the run, and is
  // told by takeWarnings().
  std::unique_ptr<ResultStore> store;
  std::string path;      // of the file that is used, "" when there is none
  bool writable = false; // results reach that file
};

// Opens the cache of a directory (made when missing) as `mode` says. A broken file is moved aside
// and a new one started; a file or directory that cannot be written is read and new results stay in
// memory; one that cannot be read either, or is of a newer version, is left alone and everything
// stays in memory. Each of these adds a sentence to `warnings`.
OpenedCache openResultCache(const std::string& directory, CacheMode mode,
                            std::vector<std::string>& warnings);
// The same, leaving the sentences to the store's takeWarnings().
OpenedCache openResultCache(const std::string& directory, CacheMode mode);

} // namespace nocturne
