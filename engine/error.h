// The small hierarchy of exceptions that engine, estimators and storage throw, and the value that a
// failed item becomes. Exceptions never cross MLIR, LLVM or CAF frames: the edge turns them into a
// Failure.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace nocturne {

enum class FailureKind : uint8_t {
  Unreadable,    // a module that cannot be opened, parsed, verified or flattened
  UnsupportedOp, // an estimator has no rule for an operation of the module
  BadConfig,     // an option has a value that the estimator refuses
  TimedOut,      // a measurement was not done by its deadline
  Crashed,       // the worker that did it died twice, or the process that measured it died
  ToolFailed,    // an external program is missing, failed, hung, or gave no time
  Internal,      // a bug of ours, contained
};

// The same input fails in this way again, so that the failure may be kept like a result. Stores
// drop rows and files with any other.
bool isDeterministic(FailureKind kind);
// The spelling in results files: "unreadable", "unsupported_op", ...
std::string_view toString(FailureKind kind);
// Throws Error for a text that names no kind.
FailureKind failureKindFromString(std::string_view text);

// Why an item has no result. `file`, `line` and `column` are the place in the module's source,
// empty and 0 where there is none.
struct Failure {
  FailureKind kind = FailureKind::Internal;
  std::string message;
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;

  // "file:line:column: message", as compilers print it; parts that are absent are left out.
  std::string text() const;
  bool operator==(const Failure&) const = default;
};

class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

// A mistake on the command line or in a specification: exit code 1. `pointer` is the JSON pointer
// of the offending value ("" when the mistake is not in a file); what() already contains it.
class UsageError : public Error {
public:
  explicit UsageError(const std::string& message, std::string pointer = {});
  // The same mistake, its message headed by the file that it is in.
  UsageError inFile(const std::string& file) const;
  const std::string& pointer() const { return pointer_; }

private:
  std::string pointer_;
};

// A failure that belongs to one item of a sweep.
class ItemError : public Error {
public:
  explicit ItemError(Failure failure);
  const Failure& failure() const { return failure_; }

private:
  Failure failure_;
};

enum class StorageErrorKind : uint8_t { Full, ReadOnly, Corrupt, Missing, TooNew, Other };

// A database or file that cannot be used. what() names the file and the reason.
class StorageError : public Error {
public:
  StorageError(StorageErrorKind kind, const std::string& message);
  StorageErrorKind kind() const { return kind_; }

private:
  StorageErrorKind kind_;
};

} // namespace nocturne
