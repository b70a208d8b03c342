// Many builds at once, on threads of this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "compiler/drivers/driver.h"

namespace nocturne::compiler {

struct BatchProgress {
  size_t total = 0, finished = 0;
  size_t built = 0, reused = 0, failed = 0, cancelled = 0;
  double seconds = 0;         // since the beginning
  double perSecond = 0;       // items finished in a second, over all of it
  std::optional<double> left; // seconds that the rest will take at that rate
};

struct BatchOptions {
  // Builds at the same time; 0 is the number of processors.
  size_t jobs = 0;
  // Bytes of memory that builds may take together, by the estimate of `memoryOf`; 0 is no bound. A
  // build that needs more than all of it runs alone.
  uint64_t memoryBytes = 0;
  // What one build takes. When empty: 64 MiB and a hundred times its text.
  std::function<uint64_t(const ModuleSource&)> memoryOf;
  // Called after each item, by one thread at a time. What it throws stops the batch, and is thrown
  // by buildIrModuleBatch when all workers are back.
  std::function<void(const BatchProgress&)> progress;
  // Begins nothing new. Builds under way stop at their next step.
  std::stop_token stop;
};

struct BatchResult {
  std::vector<BuildReport> reports; // of modules[i] in outputDirs[i]
  BatchProgress progress;           // at the end

  bool succeeded() const { return progress.built + progress.reused == progress.total; }
};

// For whoever has workers of another kind: what buildIrModuleBatch throws for its arguments, the
// memory that it supposes for a build, and how far a ledger is after so many seconds,
// `failedBefore` items having failed before they came to it.
class BatchLedger;
void checkBatch(size_t modules, std::span<const std::string> outputDirs,
                const BuildOptions& options);
uint64_t usualBuildMemory(const ModuleSource& module);
BatchProgress progressOf(const BatchLedger& ledger, double seconds, size_t failedBefore = 0);

// Builds modules[i] into outputDirs[i]. A module that is bad fails alone. Equal modules are built
// once, and copied when their folders differ. `options` holds for all; its outputDir must be empty.
// Throws UsageError for lists of different lengths, an empty folder or a bad target, and ItemError
// (tool_failed) when there is no linker, before anything is built.
BatchResult buildIrModuleBatch(BuildDriver& driver, std::span<const ModuleSource> modules,
                               std::span<const std::string> outputDirs, const BuildOptions& options,
                               const BatchOptions& batch = {});

} // namespace nocturne::compiler
