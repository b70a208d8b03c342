#include "estimators/plugin_loader.h"

#include <filesystem>
#include <string_view>

#include <dlfcn.h>

#include "engine/error.h"
#include "engine/file_bytes.h"
#include "estimators/plugin.h"

namespace nocturne {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw UsageError("plug-in " + path + ": " + reason);
}

std::shared_ptr<void> open(const std::string& path) {
  // A name without a slash would be looked for in the system's folders.
  const std::string full = std::filesystem::absolute(path).string();
  void* handle = ::dlopen(full.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    fail(path, reason == nullptr ? "it cannot be loaded" : reason);
  }
  return {handle, [](void* library) { ::dlclose(library); }};
}

const PluginEntry& entryOf(const std::string& path, void* library) {
  using Function = const PluginEntry* (*)();
  const auto function = reinterpret_cast<Function>(::dlsym(library, "nocturne_plugin"));
  if (function == nullptr)
    fail(path, "it has no function nocturne_plugin; NOCTURNE_PLUGIN makes it");
  const PluginEntry* entry = function();
  if (entry == nullptr || entry->abi == nullptr || entry->registerEstimators == nullptr)
    fail(path, "its function nocturne_plugin returned nothing");
  if (std::string_view(entry->abi) != kPluginAbi)
    fail(path, "it was compiled against other headers (" + std::string(entry->abi) + ", here " +
                   kPluginAbi + "); compile it again with the installed ones");
  return *entry;
}

} // namespace

void loadPlugin(const std::string& path, EstimatorRegistry& registry) {
  std::string digest;
  try {
    digest = hashFile(path).contentHash.hex();
  } catch (const ItemError& error) {
    fail(path, error.failure().message);
  }
  const std::shared_ptr<void> library = open(path);
  const PluginEntry& entry = entryOf(path, library.get());
  try {
    registry.addFrom(library, "plug-in " + digest, [&] { entry.registerEstimators(registry); });
  } catch (const std::exception& error) {
    fail(path, error.what());
  } catch (...) {
    fail(path, "something was thrown that is no exception");
  }
}

} // namespace nocturne
