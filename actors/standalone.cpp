#include "actors/standalone.h"

#include "compiler/execution/measurer.h"
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
  services.kernels = std::make_shared<compiler::ModuleMeasurer>();
  return services;
}

} // namespace nocturne
