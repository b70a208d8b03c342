// Builds modules to libraries: once for equal content, whoever asks.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "compiler/drivers/build_options.h"
#include "compiler/drivers/code_generator.h"
#include "compiler/drivers/linker.h"
#include "engine/digest.h"

namespace nocturne::compiler {

// A build has a key: a digest over the text of its modules, the resolved target, kind and flags,
// and the versions of generator and linker. A folder that vouches for that key is used again;
// anything else is built, by one builder at a time among all threads and processes, in a temporary
// folder that appears whole or not at all. Thread-safe.
class BuildDriver {
public:
  explicit BuildDriver(std::shared_ptr<CodeGenerator> generator, Linker linker = Linker());
  ~BuildDriver();
  BuildDriver(const BuildDriver&) = delete;
  BuildDriver& operator=(const BuildDriver&) = delete;

  // Several modules become one library, in which each entry point has a name of its own. Throws
  // UsageError (target, folder, no module), ItemError (a module, a tool, a lock that is not got in
  // time), StorageError, BuildCancelled.
  BuildOutcome build(const ModuleSource& module, const BuildOptions& options);
  BuildOutcome build(std::span<const ModuleSource> modules, const BuildOptions& options);
  // The same; throws nothing but std::bad_alloc.
  BuildReport tryBuild(const ModuleSource& module, const BuildOptions& options);
  BuildReport tryBuild(std::span<const ModuleSource> modules, const BuildOptions& options);

  // What a build would have as its key. Throws UsageError for a target that is none, ItemError when
  // there is no linker.
  Digest key(std::span<const ModuleSource> modules, const BuildOptions& options);

  // Puts a finished build into another folder, its files linked where the file system can and
  // copied where it cannot. Throws as build() does; StorageError when the source is no longer
  // whole.
  BuildOutcome copy(const BuildOutcome& source, const BuildOptions& options);
  BuildReport tryCopy(const BuildOutcome& source, const BuildOptions& options);

private:
  class State;
  std::unique_ptr<State> state_;
};

// With the arguments and defaults of hidet's function of that name. For everything else that can be
// chosen there is BuildDriver::build.
BuildOutcome buildIrModule(BuildDriver& driver, const ModuleSource& module,
                           const std::string& outputDir, const std::string& target,
                           OutputKind kind = OutputKind::SharedLibrary, bool force = false);
BuildOutcome buildIrModule(BuildDriver& driver, std::span<const ModuleSource> modules,
                           const std::string& outputDir, const std::string& target,
                           OutputKind kind = OutputKind::SharedLibrary, bool force = false);

} // namespace nocturne::compiler
