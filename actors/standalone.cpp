#include "actors/standalone.h"

#include "compiler/reader/module_reader.h"
#include "storage/result_cache.h"

namespace nocturne {

Services standalone(const Assumptions& assumptions) {
  Services services;
  services.reader =
      std::make_shared<compiler::FileModuleReader>(compiler::readerOptions(assumptions));
  services.openCache = [](const std::string& folder) -> std::shared_ptr<ResultStore> {
    return openResultCache(folder, CacheMode::OnDisk).store;
  };
  return services;
}

} // namespace nocturne
