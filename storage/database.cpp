#include "storage/database.h"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <limits>
#include <thread>

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/system_error.h"

namespace nocturne {

namespace {

constexpr int kBusyTimeoutMs = 60'000;

StorageErrorKind kindOf(int code, int systemError) {
  switch (code & 0xff) {
  case SQLITE_FULL:
    return StorageErrorKind::Full;
  case SQLITE_READONLY:
  case SQLITE_PERM:
    return StorageErrorKind::ReadOnly;
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    return StorageErrorKind::Corrupt;
  case SQLITE_CANTOPEN:
    return systemError == 0 ? StorageErrorKind::ReadOnly : storageErrorKind(systemError);
  case SQLITE_IOERR:
    return code == SQLITE_IOERR_SHORT_READ ? StorageErrorKind::Corrupt
                                           : storageErrorKind(systemError);
  default:
    return StorageErrorKind::Other;
  }
}

[[noreturn]] void fail(sqlite3* database, const std::string& path, int code) {
  int primary = code & 0xff;
  int systemError = 0;
  if (database && (primary == SQLITE_CANTOPEN || primary == SQLITE_IOERR))
    systemError = sqlite3_system_errno(database);
  std::string reason = database ? sqlite3_errmsg(database) : sqlite3_errstr(code);
  if (primary == SQLITE_BUSY)
    reason = "another process has kept it locked for too long";
  if (systemError != 0)
    reason += std::string(" (") + std::strerror(systemError) + ")";
  throw StorageError(kindOf(code, systemError), path + ": " + reason);
}

[[noreturn]] void fail(sqlite3_stmt* statement, int code) {
  sqlite3* database = sqlite3_db_handle(statement);
  const char* path = sqlite3_db_filename(database, "main");
  fail(database, path ? path : "database", code);
}

// For an URI, in which these three would have a meaning.
std::string escapePath(const std::string& path) {
  std::string out;
  for (char c : path) {
    if (c == '%')
      out += "%25";
    else if (c == '?')
      out += "%3f";
    else if (c == '#')
      out += "%23";
    else
      out += c;
  }
  return out;
}

bool exists(const std::string& path) {
  struct stat facts;
  return ::lstat(path.c_str(), &facts) == 0;
}

} // namespace

// --- Statement

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

Statement::Statement(sqlite3* database, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()),
                                SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  statement_.reset(statement);
  if (code != SQLITE_OK) {
    const char* path = sqlite3_db_filename(database, "main");
    fail(database, path ? path : "database", code);
  }
}

Statement& Statement::bindInteger(int index, int64_t value) {
  if (int code = sqlite3_bind_int64(statement_.get(), index, value))
    fail(statement_.get(), code);
  return *this;
}

Statement& Statement::bind(int index, double value) {
  if (int code = sqlite3_bind_double(statement_.get(), index, value))
    fail(statement_.get(), code);
  return *this;
}

Statement& Statement::bind(int index, std::string_view text) {
  const char* data = text.data() ? text.data() : "";
  if (int code = sqlite3_bind_text64(statement_.get(), index, data, text.size(), SQLITE_STATIC,
                                     SQLITE_UTF8))
    fail(statement_.get(), code);
  return *this;
}

Statement& Statement::bind(int index, const Digest& digest) {
  return bindBlob(index, digest.view());
}

Statement& Statement::bindBlob(int index, std::string_view bytes) {
  const char* data = bytes.data() ? bytes.data() : "";
  if (int code = sqlite3_bind_blob64(statement_.get(), index, data, bytes.size(), SQLITE_STATIC))
    fail(statement_.get(), code);
  return *this;
}

Statement& Statement::bindNull(int index) {
  if (int code = sqlite3_bind_null(statement_.get(), index))
    fail(statement_.get(), code);
  return *this;
}

Statement& Statement::bind(int index, std::optional<double> value) {
  return value ? bind(index, *value) : bindNull(index);
}

bool Statement::step() {
  int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW)
    return true;
  if (code == SQLITE_DONE)
    return false;
  fail(statement_.get(), code);
}

void Statement::reset() noexcept {
  // The code is that of the last step, which has been thrown already.
  static_cast<void>(sqlite3_reset(statement_.get()));
  sqlite3_clear_bindings(statement_.get());
}

void Statement::run() {
  StatementScope scope(*this);
  step();
}

bool Statement::isNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const {
  return isNull(column) ? std::numeric_limits<double>::quiet_NaN()
                        : sqlite3_column_double(statement_.get(), column);
}

std::optional<double> Statement::optionalReal(int column) const {
  if (isNull(column))
    return std::nullopt;
  return sqlite3_column_double(statement_.get(), column);
}

std::string_view Statement::text(int column) const {
  auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  auto size = static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column));
  return data ? std::string_view(data, size) : std::string_view();
}

std::string_view Statement::blob(int column) const {
  auto* data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  auto size = static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column));
  return data ? std::string_view(data, size) : std::string_view();
}

Digest Statement::digest(int column) const {
  Digest digest;
  std::string_view bytes = blob(column);
  if (bytes.size() != digest.bytes.size())
    fail(statement_.get(), SQLITE_CORRUPT);
  std::memcpy(digest.bytes.data(), bytes.data(), bytes.size());
  return digest;
}

// --- Database

void Database::Close::operator()(sqlite3* database) const noexcept {
  sqlite3_close_v2(database);
}

Database::Database(const std::string& path, OpenMode mode) : path_(path) {
  struct stat facts;
  if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode))
    throw StorageError(StorageErrorKind::Other, path + ": not a regular file");
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (mode == OpenMode::Write)
    flags |= SQLITE_OPEN_CREATE;
  flags |= mode == OpenMode::Immutable ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  std::string name = path;
  if (mode == OpenMode::Immutable) {
    flags |= SQLITE_OPEN_URI;
    name = "file:" + escapePath(path) + "?immutable=1";
  } else if (name.starts_with("file:")) {
    name = "./" + name;
  }
  sqlite3* database = nullptr;
  int code = sqlite3_open_v2(name.c_str(), &database, flags, nullptr);
  database_.reset(database); // a handle comes even with an error, and has to be closed
  if (code != SQLITE_OK)
    fail(database, path, code);
  sqlite3_busy_timeout(database, kBusyTimeoutMs);
  queryInteger("SELECT count(*) FROM sqlite_schema");
  if (mode == OpenMode::Write)
    configureWriter();
  else
    execute("PRAGMA query_only=ON");
}

void Database::configureWriter() {
  // SQLite opens what it may not write for reading, without a word.
  if (sqlite3_db_readonly(database_.get(), "main") == 1)
    throw StorageError(StorageErrorKind::ReadOnly, path_ + ": not writable");
  setJournalMode("PRAGMA journal_mode=WAL", std::chrono::milliseconds(kBusyTimeoutMs));
  execute("PRAGMA synchronous=NORMAL");
  execute("PRAGMA cell_size_check=ON");
  execute("PRAGMA trusted_schema=OFF");
  execute("PRAGMA journal_size_limit=67108864");
}

// SQLite fails a change of the journal at once, without its busy handler, when two processes would
// wait for each other.
void Database::setJournalMode(const char* statement, std::chrono::milliseconds patience) {
  auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    int code = sqlite3_exec(database_.get(), statement, nullptr, nullptr, nullptr);
    if (code == SQLITE_OK)
      return;
    if ((code & 0xff) != SQLITE_BUSY || std::chrono::steady_clock::now() >= deadline)
      fail(database_.get(), path_, code);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

void Database::retire(std::chrono::milliseconds patience) {
  sqlite3_busy_timeout(database_.get(), 0);
  setJournalMode("PRAGMA journal_mode=DELETE", patience);
}

void Database::setCheckpointPages(int pages) {
  sqlite3_wal_autocheckpoint(database_.get(), pages);
}

Statement Database::prepare(std::string_view sql) const {
  return {database_.get(), sql};
}

void Database::execute(const char* sql) {
  if (int code = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr))
    fail(database_.get(), path_, code);
}

int64_t Database::queryInteger(std::string_view sql) const {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::string Database::queryText(std::string_view sql) const {
  Statement statement = prepare(sql);
  return statement.step() ? std::string(statement.text(0)) : std::string();
}

void Database::begin() {
  execute("BEGIN IMMEDIATE");
}

void Database::ensureBegun() {
  if (!inTransaction())
    begin();
}

void Database::commit() {
  try {
    execute("COMMIT");
  } catch (const StorageError&) {
    rollback();
    throw;
  }
}

void Database::rollback() noexcept {
  // After SQLITE_FULL and its like SQLite has rolled back on its own.
  if (inTransaction())
    static_cast<void>(sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr));
}

bool Database::inTransaction() const {
  return sqlite3_get_autocommit(database_.get()) == 0;
}

ReadScope::ReadScope(Database& database) : database_(database) {
  if (database.inTransaction())
    return;
  database.execute("BEGIN");
  began_ = true;
}

ReadScope::~ReadScope() {
  if (began_)
    database_.rollback();
}

Database openForReading(const std::string& path) {
  if (!exists(path))
    throw StorageError(StorageErrorKind::Missing, path + ": no such file");
  try {
    return Database(path, OpenMode::Read);
  } catch (const StorageError& error) {
    struct stat log;
    bool logged = ::stat((path + "-wal").c_str(), &log) == 0 && log.st_size > 0;
    bool unwritable =
        error.kind() == StorageErrorKind::ReadOnly || error.kind() == StorageErrorKind::Missing;
    if (!unwritable || logged)
      throw;
  }
  return Database(path, OpenMode::Immutable);
}

// --- Schema

namespace {

// Throws for a file that is not of this schema or of a later version; returns its version. All of
// it from one state: another process may be making the file at this moment.
size_t versionOf(Database& database, const Schema& schema) {
  ReadScope scope(database);
  int64_t application = database.queryInteger("PRAGMA application_id");
  bool empty = database.queryInteger("SELECT count(*) FROM sqlite_schema") == 0;
  if (application != schema.applicationId && !(application == 0 && empty))
    throw StorageError(StorageErrorKind::Corrupt, database.path() + ": not " + schema.what);
  int64_t version = database.queryInteger("PRAGMA user_version");
  auto newest = static_cast<int64_t>(schema.steps.size());
  if (version > newest)
    throw StorageError(StorageErrorKind::TooNew,
                       database.path() + ": written by a newer version of Nocturne (schema " +
                           std::to_string(version) + ", this one knows up to " +
                           std::to_string(newest) + ")");
  if (version < 0)
    throw StorageError(StorageErrorKind::Corrupt, database.path() + ": not " + schema.what);
  return static_cast<size_t>(version);
}

} // namespace

void migrate(Database& database, const Schema& schema) {
  if (versionOf(database, schema) == schema.steps.size())
    return;
  database.write([&] {
    // Again, now that nobody else can change it.
    for (size_t version = versionOf(database, schema); version < schema.steps.size(); ++version)
      database.execute(schema.steps[version]);
    database.execute(("PRAGMA application_id=" + std::to_string(schema.applicationId)).c_str());
    database.execute(("PRAGMA user_version=" + std::to_string(schema.steps.size())).c_str());
  });
}

size_t requireSchema(Database& database, const Schema& schema) {
  const size_t version = versionOf(database, schema);
  if (version == 0)
    throw StorageError(StorageErrorKind::Missing,
                       database.path() + ": nothing was written to it yet");
  return version;
}

// --- Files

void moveDatabase(const std::string& from, const std::string& to) {
  // The log goes first: a new database that found the old log beside it would replay it.
  for (const char* suffix : {"-shm", "-wal", ""}) {
    std::string source = from + suffix, target = to + suffix;
    if (::unlink(target.c_str()) != 0 && errno != ENOENT)
      throwStorageError(target, "cannot be removed", errno);
    if (::rename(source.c_str(), target.c_str()) != 0 && errno != ENOENT)
      throwStorageError(source, "cannot be renamed", errno);
  }
}

std::string corruptName(const std::string& path) {
  std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char time[32];
  std::strftime(time, sizeof time, "%Y%m%dT%H%M%SZ", &utc);
  std::string base = path + ".corrupt-" + time + "-" + std::to_string(::getpid());
  std::string name = base;
  for (int n = 2; exists(name); ++n)
    name = base + "-" + std::to_string(n);
  return name;
}

} // namespace nocturne
