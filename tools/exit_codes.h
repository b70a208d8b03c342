// What the command's exit code says; docs/formats.md has the same table.
#pragma once

namespace nocturne::tools {

enum ExitCode : int {
  kOk = 0,
  kUsage = 1,       // a mistake on the command line or in a specification
  kBug = 2,         // a mistake of ours
  kFailedItems = 3, // finished, but some items failed
  kStopped = 4,     // disk, failure limit or restart limit ended the run early
  kInterrupted = 130,
  kTerminated = 143,
};

} // namespace nocturne::tools
