#include "actors/standalone.h"

#include <utility>

#include "compiler/reader/module_reader.h"
#include "storage/result_cache.h"

namespace nocturne {

namespace {

// What was warned of while a cache was opened comes first.
class WarningStore final : public ResultStore {
public:
  WarningStore(std::unique_ptr<ResultStore> store, std::vector<std::string> warnings)
      : store_(std::move(store)), warnings_(std::move(warnings)) {}

  void begin() override { store_->begin(); }
  void commit() override { store_->commit(); }
  std::vector<std::optional<ResultRow>> find(std::span<const Digest> keys) override {
    return store_->find(keys);
  }
  void put(std::span<const ResultRow> rows) override { store_->put(rows); }
  std::optional<FileEntry> findFile(const Digest& contentHash, const std::string& readerText,
                                    bool withTable) override {
    return store_->findFile(contentHash, readerText, withTable);
  }
  void putFile(const FileEntry& entry) override { store_->putFile(entry); }
  void putConfiguration(const Digest& configuration, const std::string& estimator,
                        const std::string& options) override {
    store_->putConfiguration(configuration, estimator, options);
  }
  std::string findDetails(const Digest& key) override { return store_->findDetails(key); }
  void putDetails(const Digest& key, const std::string& text) override {
    store_->putDetails(key, text);
  }
  std::vector<std::string> takeWarnings() override {
    std::vector<std::string> all = std::exchange(warnings_, {});
    for (std::string& warning : store_->takeWarnings())
      all.push_back(std::move(warning));
    return all;
  }

private:
  const std::unique_ptr<ResultStore> store_;
  std::vector<std::string> warnings_;
};

} // namespace

Services standalone(const Assumptions& assumptions) {
  Services services;
  services.reader =
      std::make_shared<compiler::FileModuleReader>(compiler::readerOptions(assumptions));
  services.openCache = [](const std::string& folder) -> std::shared_ptr<ResultStore> {
    std::vector<std::string> warnings;
    OpenedCache cache = openResultCache(folder, CacheMode::OnDisk, warnings);
    return std::make_shared<WarningStore>(std::move(cache.store), std::move(warnings));
  };
  return services;
}

} // namespace nocturne
