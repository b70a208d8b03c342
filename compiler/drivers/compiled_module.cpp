#include "compiler/drivers/compiled_module.h"

#include <filesystem>

#include <dlfcn.h>

#include "compiler/drivers/processor.h"
#include "engine/error.h"
#include "engine/file_bytes.h"
#include "engine/options.h"

namespace nocturne::compiler {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(FailureKind kind, const std::string& path, const std::string& message) {
  throw ItemError({kind, message, path, 0, 0});
}

// The folder of the build itself: links lead elsewhere when the next build takes them, so manifest
// and library are read by the names that never change.
fs::path folderOfBuild(const std::string& path) {
  std::error_code error;
  const fs::path named = fs::is_directory(path, error) ? fs::path(path) / "lib.so" : fs::path(path);
  const fs::path library = fs::canonical(named, error);
  if (error)
    fail(FailureKind::Unreadable, named.string(), "no library is there: " + error.message());
  return library.parent_path();
}

void checkLibrary(const Manifest& manifest, const std::string& path) {
  if (manifest.kind != OutputKind::SharedLibrary)
    fail(FailureKind::BadConfig, path, "an object file cannot be loaded; build a .so");
  const HashedFile hashed = hashFile(path);
  if (hashed.bytes != manifest.libraryBytes || hashed.contentHash != manifest.libraryDigest)
    fail(FailureKind::Unreadable, path,
         "damaged: its content is not that of its manifest; the next build replaces it");
  std::string names;
  for (const std::string& feature : missingFeatures(manifest.features))
    names.append(names.empty() ? "" : ", ").append(feature);
  if (!names.empty())
    fail(FailureKind::BadConfig, path,
         "built for \"" + manifest.target + "\"; this processor has no " + names);
}

struct Close {
  void operator()(void* handle) const { ::dlclose(handle); }
};

} // namespace

struct CompiledModule::Library {
  Manifest manifest;
  std::unique_ptr<void, Close> handle;
};

const CompiledModule& LoadedModule::value() const {
  if (const auto* problem = std::get_if<Failure>(&value_))
    throw ItemError(*problem);
  return std::get<CompiledModule>(value_);
}

CompiledModule CompiledModule::open(const std::string& path) {
  const fs::path folder = folderOfBuild(path);
  auto library = std::make_shared<Library>();
  library->manifest = readManifest(folder.string());
  const std::string file = (folder / library->manifest.library).string();
  checkLibrary(library->manifest, file);
  library->handle.reset(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library->handle) {
    const char* reason = ::dlerror();
    fail(FailureKind::ToolFailed, file, reason == nullptr ? "cannot be loaded" : reason);
  }
  auto functions = std::make_shared<std::vector<CompiledFunction>>();
  for (const LibraryEntry& entry : library->manifest.entries) {
    void* address = ::dlsym(library->handle.get(), entry.symbol.c_str());
    if (address == nullptr)
      fail(FailureKind::Unreadable, file, "has no symbol \"" + entry.symbol + '"');
    functions->push_back(CompiledFunction(std::shared_ptr<const LibraryEntry>(library, &entry),
                                          reinterpret_cast<CompiledFunction::Function>(address)));
  }
  CompiledModule module;
  module.library_ = std::move(library);
  module.functions_ = std::move(functions);
  return module;
}

LoadedModule CompiledModule::load(const std::string& path) {
  try {
    return open(path);
  } catch (const ItemError& error) {
    return error.failure();
  } catch (const Error& error) {
    return Failure{FailureKind::Unreadable, error.what(), path, 0, 0};
  }
}

const Manifest& CompiledModule::manifest() const {
  return library_->manifest;
}

const CompiledFunction* CompiledModule::entry(std::string_view name) const {
  for (const CompiledFunction& function : *functions_)
    if (function.entry().name == name)
      return &function;
  return nullptr;
}

CompiledFunction CompiledModule::function(std::string_view name) const {
  if (const CompiledFunction* found = entry(name))
    return *found;
  std::vector<std::string> names;
  for (const LibraryEntry& entry : entries())
    names.push_back(entry.name);
  throw UsageError("the library has no entry \"" + std::string(name) + '"' +
                   didYouMean(name, names));
}

} // namespace nocturne::compiler
