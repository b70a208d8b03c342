#include "compiler/drivers/build_job.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "engine/file_bytes.h"

namespace nocturne::compiler {

namespace {

constexpr std::string_view kLogName = "log.txt";
constexpr size_t kSonameLetters = 16;

[[noreturn]] void failModule(FailureKind kind, const std::string& message,
                             const ModuleSource& module) {
  throw ItemError({kind, message, module.name, 0, 0});
}

// Extra files never begin with a dot.
std::string objectName(size_t index) {
  return std::string(".m").append(std::to_string(index)).append(".o");
}

// What the linker would let pass or complain of in its own words: a symbol goes into its script.
bool isSymbol(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$';
  });
}

std::string milliseconds(std::chrono::steady_clock::time_point since) {
  const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - since;
  char text[32];
  std::snprintf(text, sizeof text, "%.3f ms", passed.count());
  return text;
}

template <typename T>
void addNew(std::vector<T>& all, const std::vector<T>& more) {
  for (const T& one : more)
    if (std::find(all.begin(), all.end(), one) == all.end())
      all.push_back(one);
}

} // namespace

bool needsLinker(OutputKind kind, size_t modules) {
  return kind == OutputKind::SharedLibrary || modules > 1;
}

void BuildJob::reach(BuildStage stage) const {
  if (options_.onStage)
    options_.onStage(stage);
  if (options_.stop.stop_requested())
    throw BuildCancelled("the build was stopped");
}

GeneratedCode BuildJob::generate(const ModuleSource& module) {
  GenerateOptions options;
  options.keepIr = options_.keepIr;
  options.flags = options_.flags;
  options.stop = options_.stop;
  try {
    return generator_.generate(module, plan_.target, options);
  } catch (const ItemError& error) {
    if (!error.failure().file.empty())
      throw;
    Failure failure = error.failure();
    failure.file = module.name;
    throw ItemError(std::move(failure));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    failModule(FailureKind::Internal, std::string("code generation: ") + error.what(), module);
  }
}

void BuildJob::addEntries(const ModuleSource& module, GeneratedCode& code) {
  for (LibraryEntry& entry : code.entries) {
    if (!isSymbol(entry.symbol))
      failModule(FailureKind::Internal, "entry \"" + entry.name + "\" has no usable symbol",
                 module);
    for (size_t i = 0; i < manifest_.entries.size(); ++i) {
      const LibraryEntry& other = manifest_.entries[i];
      if (other.name == entry.name || other.symbol == entry.symbol)
        failModule(FailureKind::BadConfig,
                   "entry \"" + entry.name + "\" is in " +
                       (owners_[i].empty() ? "another module" : owners_[i]) +
                       " as well; one library cannot have both",
                   module);
    }
    manifest_.entries.push_back(std::move(entry));
    owners_.push_back(module.name);
  }
}

void BuildJob::addFiles(const DraftFolder& draft, const std::vector<ExtraFile>& files) {
  for (const ExtraFile& file : files) {
    std::string name = file.name;
    if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos)
      throw ItemError({FailureKind::Internal, '"' + name + "\" is no name of a file", "", 0, 0});
    // The files of a second module must not replace those of the first.
    if (modules_.size() > 1)
      name.insert(0, std::string("m").append(std::to_string(objects_.size())).append("-"));
    if (name == kManifestName || name == manifest_.library || name == kLogName)
      name.insert(0, "extra-");
    draft.write(name, file.content);
    manifest_.files.push_back(std::move(name));
  }
}

void BuildJob::addLog(const std::string& text) {
  log_.append(text);
  if (!text.empty() && text.back() != '\n')
    log_.push_back('\n');
}

void BuildJob::link(const DraftFolder& draft) {
  LinkRequest request;
  request.directory = draft.path();
  request.objects = objects_;
  request.output = manifest_.library;
  request.kind = options_.kind;
  request.libraries = libraries_;
  request.soname = "nocturne-" + plan_.key.hex().substr(0, kSonameLetters) + ".so";
  request.identity = "nocturne abi=" + std::to_string(kAbiVersion) + " key=" + plan_.key.hex();
  request.timeout = options_.linkTimeout;
  for (const LibraryEntry& entry : manifest_.entries)
    request.exports.push_back(entry.symbol);
  const auto start = std::chrono::steady_clock::now();
  addLog(linker_.link(request));
  addLog("linked in " + milliseconds(start));
  std::error_code ignored;
  for (const std::string& object : objects_)
    std::filesystem::remove(draft.file(object), ignored);
}

// Nobody sees the folder before it is renamed, so that all may be made durable at once.
void BuildJob::seal(const DraftFolder& draft) {
  const std::string library = draft.file(manifest_.library);
  const HashedFile hashed = hashFile(library);
  manifest_.libraryBytes = hashed.bytes;
  manifest_.libraryDigest = hashed.contentHash;
  draft.write(kLogName, log_);
  manifest_.files.emplace_back(kLogName);
  reach(BuildStage::Written);
  draft.write(kManifestName, toJson(manifest_));
  draft.sync();
  reach(BuildStage::Sealed);
}

std::string BuildJob::run(const ArtifactPaths& paths) {
  manifest_.key = plan_.key;
  manifest_.kind = options_.kind;
  manifest_.target = plan_.target.text();
  manifest_.generator = plan_.generator;
  manifest_.linker = plan_.linker;
  manifest_.flags = options_.flags;
  manifest_.modules = plan_.modules;
  manifest_.library = libraryName(options_.kind);
  const DraftFolder draft(paths, plan_.key);
  const bool linked = needsLinker(options_.kind, modules_.size());
  reach(BuildStage::Locked);
  for (const ModuleSource& module : modules_) {
    const auto start = std::chrono::steady_clock::now();
    GeneratedCode code = generate(module);
    addLog(code.log);
    addLog("generated " + module.name + " in " + milliseconds(start));
    addEntries(module, code);
    addFiles(draft, code.files);
    addNew(manifest_.features, code.features);
    addNew(libraries_, code.libraries);
    objects_.push_back(linked ? objectName(objects_.size()) : manifest_.library);
    draft.write(objects_.back(), code.object);
    if (options_.stop.stop_requested())
      throw BuildCancelled("the build was stopped");
  }
  reach(BuildStage::Generated);
  if (linked) {
    reach(BuildStage::Linking);
    link(draft);
  }
  seal(draft);
  draft.publish(paths.folder(plan_.key));
  return std::move(log_);
}

} // namespace nocturne::compiler
