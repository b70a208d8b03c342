// Many builds at once, in worker processes: a module that crashes the compiler fails alone. The
// only entry to the actors of builds, and free of CAF.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "compiler/drivers/batch.h"

namespace nocturne {

struct BuildRequest {
  std::string name; // in messages
  std::string path; // of the file that has the module; "" when `text` is it
  std::string text;
};

struct BuildWorkerOptions {
  // The program of the workers and its first arguments; "--connect 127.0.0.1:PORT" follows. It has
  // to call serveBuilds() with a driver like the one here.
  std::vector<std::string> command;
  std::chrono::milliseconds deadline{600'000}; // of one build; 0 for none
  std::chrono::milliseconds grace{5'000};      // for builds under way after a stop
  std::chrono::milliseconds startTime{120'000};
  // Deaths in a row of workers that were building nothing, after which the batch ends.
  unsigned restartLimit = 8;
};

// The same as buildIrModuleBatch, in at most batch.jobs processes, with the same results:
// reports[i] is of requests[i] in outputDirs[i]. A file that cannot be read fails alone. A module
// whose process dies is built once more, alone in a fresh one; if that dies too it has failed
// (crashed, with the signal). One that is not built within the deadline has failed (timed_out).
// After a stop, builds that do not end within the grace period are killed; nothing is ever half
// built. A lock is waited for no longer than the deadline allows. `options.onStage` is not called.
// Throws UsageError as buildIrModuleBatch does; ItemError (tool_failed) when there is no linker or
// no connection.
compiler::BatchResult
buildBatchInWorkers(compiler::BuildDriver& driver, std::span<const BuildRequest> requests,
                    std::span<const std::string> outputDirs, const compiler::BuildOptions& options,
                    const compiler::BatchOptions& batch, const BuildWorkerOptions& workers);

} // namespace nocturne
