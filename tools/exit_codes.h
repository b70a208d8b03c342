// What the command's exit code says; docs/formats.md has the same table.
#pragma once

namespace nocturne::tools {

enum ExitCode : int {
  kOk = 0,
  kUsage = 1,       // a mistake in what was asked, or a folder or file that cannot be used for it
  kBug = 2,         // a mistake of ours
  kFailedItems = 3, // finished, but some items failed
  kStopped = 4,     // ended early: --fail-fast, storage, memory, standard output, restart limit
  kInterrupted = 130,
  kTerminated = 143,
};

} // namespace nocturne::tools
