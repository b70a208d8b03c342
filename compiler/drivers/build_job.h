// The making of one build, in a draft folder, under its lock.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/drivers/artifacts.h"
#include "compiler/drivers/code_generator.h"
#include "compiler/drivers/linker.h"

namespace nocturne::compiler {

// What is decided before anything is built.
struct BuildPlan {
  Target target; // resolved
  std::string generator, linker;
  std::vector<Digest> modules;
  Digest key;
};

// A library is linked, and so are several objects to one; a single object is what it is.
bool needsLinker(OutputKind kind, size_t modules);

// Used once, by one thread, while the caller holds the lock of the key.
class BuildJob {
public:
  BuildJob(CodeGenerator& generator, const Linker& linker, std::span<const ModuleSource> modules,
           const BuildOptions& options, const BuildPlan& plan)
      : generator_(generator), linker_(linker), modules_(modules), options_(options), plan_(plan) {}

  // Publishes the folder of the key and returns the log. Throws ItemError, StorageError,
  // BuildCancelled.
  std::string run(const ArtifactPaths& paths);

private:
  GeneratedCode generate(const ModuleSource& module);
  void addEntries(const ModuleSource& module, GeneratedCode& code);
  void addFiles(const DraftFolder& draft, const std::vector<ExtraFile>& files);
  void addLog(const std::string& text);
  void link(const DraftFolder& draft);
  void seal(const DraftFolder& draft);
  void reach(BuildStage stage) const;

  CodeGenerator& generator_;
  const Linker& linker_;
  const std::span<const ModuleSource> modules_;
  const BuildOptions& options_;
  const BuildPlan& plan_;

  Manifest manifest_;
  std::vector<std::string> objects_, libraries_;
  std::vector<std::string> owners_; // name of the module of each entry
  std::string log_;
};

} // namespace nocturne::compiler
