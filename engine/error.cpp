#include "engine/error.h"

#include <array>
#include <utility>

namespace nocturne {

namespace {

// In the order of FailureKind.
constexpr std::array<std::string_view, 7> kFailureKindNames = {
    "unreadable", "unsupported_op", "bad_config", "timed_out",
    "crashed",    "tool_failed",    "internal"};

std::string withPointer(const std::string& message, const std::string& pointer) {
  return pointer.empty() ? message : pointer + ": " + message;
}

} // namespace

bool isDeterministic(FailureKind kind) {
  return kind == FailureKind::Unreadable || kind == FailureKind::UnsupportedOp ||
         kind == FailureKind::BadConfig;
}

std::string_view toString(FailureKind kind) {
  return kFailureKindNames.at(static_cast<size_t>(kind));
}

FailureKind failureKindFromString(std::string_view text) {
  for (size_t i = 0; i < kFailureKindNames.size(); ++i)
    if (kFailureKindNames[i] == text)
      return static_cast<FailureKind>(i);
  throw Error("'" + std::string(text) + "' is no kind of failure");
}

std::string Failure::text() const {
  std::string out = file;
  // A column without a line says nothing, and neither does without a file name before it.
  if (line != 0) {
    if (!out.empty())
      out += ':';
    out += std::to_string(line);
    if (column != 0)
      out += ':' + std::to_string(column);
  }
  if (!out.empty())
    out += ": ";
  return out + message;
}

UsageError::UsageError(const std::string& message, std::string pointer)
    : Error(withPointer(message, pointer)), pointer_(std::move(pointer)) {}

UsageError UsageError::inFile(const std::string& file) const {
  UsageError error(file + ": " + what());
  error.pointer_ = pointer_;
  return error;
}

ItemError::ItemError(Failure failure) : Error(failure.text()), failure_(std::move(failure)) {}

StorageError::StorageError(StorageErrorKind kind, const std::string& message)
    : Error(message), kind_(kind) {}

} // namespace nocturne
