// A thin layer over SQLite: what the result cache and the run record have in common.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/digest.h"
#include "engine/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace nocturne {

enum class OpenMode : uint8_t {
  Write, // a missing file is made
  // Sees what a live writer commits, and tidies the log away when it is the last to close. Works
  // without the right to write the file, but not its directory.
  Read,
  Immutable, // for a file that nobody writes, in a directory that cannot be written
};

// A prepared statement, kept for the life of its database. Parameters count from 1, columns from 0.
// Text and blobs that are bound must outlive the next reset(); text and blobs that are read are
// valid until the next step() or reset(). One thread at a time. Every call that can fail throws
// StorageError.
class Statement {
public:
  Statement() = default;
  Statement(sqlite3* database, std::string_view sql);

  Statement& bind(int index, std::integral auto value) {
    return bindInteger(index, static_cast<int64_t>(value));
  }
  Statement& bind(int index, double value); // NaN becomes NULL: SQLite has none
  Statement& bind(int index, std::string_view text);
  Statement& bind(int index, const Digest& digest);
  Statement& bindBlob(int index, std::string_view bytes);
  Statement& bindNull(int index);
  Statement& bind(int index, std::optional<double> value);

  // True while there is a row to read.
  bool step();
  // Back to the start, parameters forgotten. Never throws, so that it can follow an error.
  void reset() noexcept;
  // step() once, then reset(), also when it throws.
  void run();

  bool isNull(int column) const;
  int64_t integer(int column) const;
  double real(int column) const; // NULL reads as NaN
  std::optional<double> optionalReal(int column) const;
  std::string_view text(int column) const;
  std::string_view blob(int column) const;
  // Throws StorageError(Corrupt) when the column does not hold 32 bytes.
  Digest digest(int column) const;

private:
  Statement& bindInteger(int index, int64_t value);
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Resets a statement at the end of a scope, whatever ends it: a statement left in the middle of its
// rows would hold its read transaction open.
class StatementScope {
public:
  explicit StatementScope(Statement& statement) : statement_(statement) {}
  ~StatementScope() { statement_.reset(); }
  StatementScope(const StatementScope&) = delete;
  StatementScope& operator=(const StatementScope&) = delete;

private:
  Statement& statement_;
};

// One connection: write-ahead log, synchronous=NORMAL (a crash of the process loses nothing that
// was committed, a power failure may lose the last transactions, neither breaks the file), extended
// result codes, a busy timeout of a minute. Opening is lazy in SQLite, so the constructor runs a
// first statement: a file that is no database is found out there. One thread at a time.
class Database {
public:
  // Throws StorageError: Missing, ReadOnly, Full, Corrupt or Other.
  Database(const std::string& path, OpenMode mode);

  const std::string& path() const { return path_; }
  Statement prepare(std::string_view sql) const;
  // Runs statements that return nothing of interest.
  void execute(const char* sql);
  // The first column of the first row of a statement, 0 or "" without one.
  int64_t queryInteger(std::string_view sql) const;
  std::string queryText(std::string_view sql) const;
  // Gives up the log, so that the file can be renamed once this connection is closed: a connection
  // that still had the log open would at its end delete the log of the next file of that name.
  // Throws StorageError when another connection stays open for longer than `patience`.
  void retire(std::chrono::milliseconds patience);
  // Pages in the write-ahead log that make SQLite carry them over into the file.
  void setCheckpointPages(int pages);

  // BEGIN IMMEDIATE: waits for another writer instead of failing in the middle.
  void begin();
  // The same, unless a transaction is open.
  void ensureBegun();
  // On failure nothing of the transaction remains; what was committed before does.
  void commit();
  // Ends an open transaction, if SQLite has not done so itself. Never throws.
  void rollback() noexcept;
  bool inTransaction() const;
  // Runs `work` in the open transaction, or else in one of its own. When it throws, nothing of that
  // transaction remains, whoever began it.
  template <typename Work>
  void write(const Work& work);

private:
  struct Close {
    void operator()(sqlite3* database) const noexcept;
  };
  void configureWriter();
  void setJournalMode(const char* statement, std::chrono::milliseconds patience);
  std::string path_;
  std::unique_ptr<sqlite3, Close> database_;
};

template <typename Work>
void Database::write(const Work& work) {
  bool own = !inTransaction();
  try {
    if (own)
      begin();
    work();
    if (own)
      commit();
  } catch (...) {
    rollback();
    throw;
  }
}

// One state for the reads of a scope, and one lock instead of one each. Does nothing inside a
// transaction.
class ReadScope {
public:
  explicit ReadScope(Database& database);
  ~ReadScope();
  ReadScope(const ReadScope&) = delete;
  ReadScope& operator=(const ReadScope&) = delete;

private:
  Database& database_;
  bool began_ = false;
};

// Opens for reading whatever the rights on file and directory are: Read, else Immutable, which is
// refused while a write-ahead log with content lies beside the file.
Database openForReading(const std::string& path);

// The versions of a file. steps[n] takes a database of version n to n + 1; user_version says which
// one it has, application_id that it is ours. Published steps are never edited.
struct Schema {
  const char* what; // "a Nocturne result cache"
  int32_t applicationId;
  std::span<const char* const> steps;
};

// Brings the file to the newest version in one transaction, safely against another process that
// does the same. Throws StorageError: TooNew for a file of a later version, Corrupt for a foreign
// file.
void migrate(Database& database, const Schema& schema);
// The version of a file that is only read, which may be an older one: whoever reads does without
// what later versions added. Throws StorageError for a newer one and for another kind of file.
size_t requireSchema(Database& database, const Schema& schema);

// Moves a database with its -wal and -shm files to another name in the same directory, replacing
// what is there. Nobody may have it open. Throws StorageError.
void moveDatabase(const std::string& from, const std::string& to);
// "<path>.corrupt-<UTC time>-<pid>": where a broken file is kept.
std::string corruptName(const std::string& path);

} // namespace nocturne
