#include "compiler/drivers/driver.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <new>

#include "compiler/drivers/artifacts.h"
#include "compiler/drivers/build_job.h"
#include "compiler/drivers/build_lock.h"

namespace nocturne::compiler {

namespace {

using Clock = std::chrono::steady_clock;

// Raised when the same inputs are to give other builds.
constexpr std::string_view kKeySchema = "nocturne build 1";
constexpr std::string_view kLinksLock = "links";

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void reach(const BuildOptions& options, BuildStage stage) {
  if (options.onStage)
    options.onStage(stage);
}

BuildReport failed(FailureKind kind, const std::string& message) {
  return failedReport({kind, message, "", 0, 0});
}

// Errors to values.
template <typename Work>
BuildReport reportOf(const Work& work) {
  const Clock::time_point start = Clock::now();
  BuildReport report;
  try {
    report.outcome = work();
    report.state = report.outcome.built ? BuildState::Built : BuildState::Reused;
  } catch (const BuildCancelled& error) {
    report.state = BuildState::Cancelled;
    report.failure = Failure{FailureKind::TimedOut, error.what(), "", 0, 0};
  } catch (const ItemError& error) {
    report = failedReport(error.failure());
  } catch (const UsageError& error) {
    report = failed(FailureKind::BadConfig, error.what());
  } catch (const StorageError& error) {
    // Another disk, another day: it may work then.
    report = failed(FailureKind::ToolFailed, error.what());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    report = failed(FailureKind::Internal, error.what());
  }
  report.seconds = secondsSince(start);
  return report;
}

void linkOrCopy(const std::string& from, const std::string& to) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_hard_link(from, to, error);
  if (!error)
    return;
  error.clear();
  fs::copy_file(from, to, error);
  if (error)
    throw StorageError(StorageErrorKind::Other,
                       from + ": cannot be copied to " + to + ": " + error.message());
}

} // namespace

class BuildDriver::State {
public:
  State(std::shared_ptr<CodeGenerator> generator, Linker linker)
      : generator_(std::move(generator)), linker_(std::move(linker)),
        generatorVersion_(generator_->version()) {}

  BuildPlan plan(std::span<const ModuleSource> modules, const BuildOptions& options);
  BuildOutcome build(std::span<const ModuleSource> modules, const BuildOptions& options);
  BuildOutcome copy(const BuildOutcome& source, const BuildOptions& options);

private:
  Target resolve(const std::string& text);
  BuildOutcome outcomeOf(const ArtifactPaths& paths, std::shared_ptr<const Manifest> manifest,
                         const BuildOptions& options);
  std::string place(std::span<const ModuleSource> modules, const BuildOptions& options,
                    const BuildPlan& plan, const ArtifactPaths& paths);

  const std::shared_ptr<CodeGenerator> generator_;
  const Linker linker_;
  const std::string generatorVersion_;
  BuildLocks locks_;
  ArtifactCheck artifacts_;
  std::mutex mutex_;
  std::map<std::string, Target> resolved_; // guarded by mutex_
};

// To ask for the processor's name may take long, and the answer stays the same.
Target BuildDriver::State::resolve(const std::string& text) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = resolved_.find(text); found != resolved_.end())
      return found->second;
  }
  Target target = generator_->resolve(parseTarget(text));
  const std::scoped_lock lock(mutex_);
  return resolved_.emplace(text, std::move(target)).first->second;
}

BuildPlan BuildDriver::State::plan(std::span<const ModuleSource> modules,
                                   const BuildOptions& options) {
  if (modules.empty())
    throw UsageError("a build needs a module");
  BuildPlan plan;
  plan.target = resolve(options.target);
  plan.generator = generatorVersion_;
  if (needsLinker(options.kind, modules.size()))
    plan.linker = linker_.version();
  Hasher hasher;
  hasher.field(kKeySchema).field(plan.generator).field(plan.linker).field(plan.target.text());
  hasher.field(toString(options.kind)).number(options.keepIr ? 1 : 0);
  hasher.number(options.flags.size());
  for (const std::string& flag : options.flags)
    hasher.field(flag);
  hasher.number(modules.size());
  for (const ModuleSource& module : modules) {
    plan.modules.push_back(hashBytes(module.text));
    hasher.field(plan.modules.back());
  }
  plan.key = hasher.finish();
  return plan;
}

BuildOutcome BuildDriver::State::outcomeOf(const ArtifactPaths& paths,
                                           std::shared_ptr<const Manifest> manifest,
                                           const BuildOptions& options) {
  if (!hasLinks(paths, *manifest)) {
    paths.makeFolders(); // what was copied from elsewhere may lack those that are empty
    const BuildLocks::Held held =
        locks_.acquire(paths.lock(kLinksLock), options.lockTimeout, options.stop);
    setLinks(paths, *manifest);
  }
  reach(options, BuildStage::Linked);
  BuildOutcome outcome;
  outcome.key = manifest->key;
  outcome.folder = paths.folder(manifest->key);
  outcome.library = outcome.folder + '/' + manifest->library;
  outcome.link = paths.outputDir() + '/' + manifest->library;
  outcome.manifest = std::move(manifest);
  return outcome;
}

// Under the lock of the key. Returns the log.
std::string BuildDriver::State::place(std::span<const ModuleSource> modules,
                                      const BuildOptions& options, const BuildPlan& plan,
                                      const ArtifactPaths& paths) {
  removeDeadDrafts(paths, plan.key, locks_);
  std::string log = BuildJob(*generator_, linker_, modules, options, plan).run(paths);
  artifacts_.forget(paths.folder(plan.key));
  reach(options, BuildStage::Published);
  return log;
}

BuildOutcome BuildDriver::State::build(std::span<const ModuleSource> modules,
                                       const BuildOptions& options) {
  const Clock::time_point start = Clock::now();
  const ArtifactPaths paths(options.outputDir);
  const BuildPlan plan = this->plan(modules, options);
  const std::string folder = paths.folder(plan.key);
  std::shared_ptr<const Manifest> manifest;
  if (!options.force)
    manifest = artifacts_.find(folder, plan.key, options.verify);
  std::string log;
  bool built = false;
  if (!manifest) {
    paths.makeFolders();
    const BuildLocks::Held held =
        locks_.acquire(paths.lock(plan.key.hex()), options.lockTimeout, options.stop);
    // Somebody may have built it while we waited.
    if (!options.force)
      manifest = artifacts_.find(folder, plan.key, options.verify);
    if (!manifest) {
      log = place(modules, options, plan, paths);
      built = true;
      manifest = artifacts_.find(folder, plan.key, false);
      if (!manifest)
        throw StorageError(StorageErrorKind::Corrupt,
                           folder + ": what was just built cannot be read back");
    }
  }
  BuildOutcome outcome = outcomeOf(paths, std::move(manifest), options);
  outcome.built = built;
  outcome.log = std::move(log);
  outcome.seconds = secondsSince(start);
  return outcome;
}

BuildOutcome BuildDriver::State::copy(const BuildOutcome& source, const BuildOptions& options) {
  const Clock::time_point start = Clock::now();
  const ArtifactPaths paths(options.outputDir);
  const std::string folder = paths.folder(source.key);
  std::shared_ptr<const Manifest> manifest = artifacts_.find(folder, source.key, options.verify);
  if (!manifest) {
    paths.makeFolders();
    const BuildLocks::Held held =
        locks_.acquire(paths.lock(source.key.hex()), options.lockTimeout, options.stop);
    manifest = artifacts_.find(folder, source.key, options.verify);
    if (!manifest) {
      removeDeadDrafts(paths, source.key, locks_);
      const DraftFolder draft(paths, source.key);
      std::vector<std::string> names = source.manifest->files;
      names.push_back(source.manifest->library);
      names.emplace_back(kManifestName);
      for (const std::string& name : names)
        linkOrCopy(source.folder + '/' + name, draft.file(name));
      draft.sync();
      draft.publish(folder);
      manifest = artifacts_.find(folder, source.key, true);
      if (!manifest)
        throw StorageError(StorageErrorKind::Corrupt, source.folder + ": no longer whole");
    }
  }
  BuildOutcome outcome = outcomeOf(paths, std::move(manifest), options);
  outcome.seconds = secondsSince(start);
  return outcome;
}

BuildDriver::BuildDriver(std::shared_ptr<CodeGenerator> generator, Linker linker)
    : state_(std::make_unique<State>(std::move(generator), std::move(linker))) {}

BuildDriver::~BuildDriver() = default;

BuildOutcome BuildDriver::build(const ModuleSource& module, const BuildOptions& options) {
  return state_->build({&module, 1}, options);
}

BuildOutcome BuildDriver::build(std::span<const ModuleSource> modules,
                                const BuildOptions& options) {
  return state_->build(modules, options);
}

BuildReport BuildDriver::tryBuild(const ModuleSource& module, const BuildOptions& options) {
  return reportOf([&] { return state_->build({&module, 1}, options); });
}

BuildReport BuildDriver::tryBuild(std::span<const ModuleSource> modules,
                                  const BuildOptions& options) {
  return reportOf([&] { return state_->build(modules, options); });
}

Digest BuildDriver::key(std::span<const ModuleSource> modules, const BuildOptions& options) {
  return state_->plan(modules, options).key;
}

BuildOutcome BuildDriver::copy(const BuildOutcome& source, const BuildOptions& options) {
  return state_->copy(source, options);
}

BuildReport BuildDriver::tryCopy(const BuildOutcome& source, const BuildOptions& options) {
  return reportOf([&] { return state_->copy(source, options); });
}

BuildOutcome buildIrModule(BuildDriver& driver, const ModuleSource& module,
                           const std::string& outputDir, const std::string& target, OutputKind kind,
                           bool force) {
  return buildIrModule(driver, {&module, 1}, outputDir, target, kind, force);
}

BuildOutcome buildIrModule(BuildDriver& driver, std::span<const ModuleSource> modules,
                           const std::string& outputDir, const std::string& target, OutputKind kind,
                           bool force) {
  BuildOptions options;
  options.outputDir = outputDir;
  options.target = target;
  options.kind = kind;
  options.force = force;
  return driver.build(modules, options);
}

} // namespace nocturne::compiler
