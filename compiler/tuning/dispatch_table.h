// What was measured for a task, on which processors: which candidate wins, without measuring again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/tuning/benchmark.h"
#include "engine/digest.h"

namespace nocturne::compiler {

enum class CandidateState : uint8_t {
  Timed,    // right, and timed
  Built,    // not run: there is no device for it
  Same,     // its code is that of an earlier candidate
  Wrong,    // its results are not those of the reference
  Failed,   // cannot be built, or refuses its call
  Crashed,  // ended the process that built or ran it
  TimedOut, // took longer than it may
};
std::string_view toString(CandidateState state); // "timed", "built", ...
// Throws Error for a text that names none.
CandidateState candidateStateFromString(std::string_view text);

struct CandidateRecord {
  std::string name;
  CandidateState state = CandidateState::Failed;
  std::string reason; // of all states but Timed and Built
  // The failure may be gone the next time: a tool that was missing, a full disk, a lock.
  bool mayPass = false;
  std::string build;  // key of its build; "" when there is none
  std::string digest; // of its library
  Timing timing;      // of Timed
};

struct Dispatch {
  std::string processor; // what the times are valid for, see processorIdentity()
  std::vector<CandidateRecord> candidates;
  size_t winner = 0;
};

// The file dispatch.json in the folder of a task. Not thread-safe; who reads and writes holds the
// lock of the task.
class DispatchTable {
public:
  // A file that is missing, damaged or of another version counts as an empty table.
  static DispatchTable read(const std::string& path, const Digest& task);
  // Replaces the file at once. Throws StorageError.
  void write(const std::string& path, const Digest& task) const;

  const Dispatch* find(const std::string& processor) const;
  void set(Dispatch dispatch);

private:
  std::vector<Dispatch> entries_;
};

} // namespace nocturne::compiler
