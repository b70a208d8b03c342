// Estimator classes by name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/estimator_description.h"
#include "estimators/estimator_base.h"

namespace nocturne {

struct HandlerTable;

class EstimatorRegistry {
public:
  EstimatorRegistry() = default;
  // `kernels` is for estimators that measure; where it is null they fail their items.
  explicit EstimatorRegistry(std::shared_ptr<KernelBuilder> kernels)
      : kernels_(std::move(kernels)) {}

  // Checks the declaration. Throws Error that names the class and the mistake.
  template <typename T>
  void add() {
    addClass(declarationOf<T>(bases_));
  }

  // Runs `add`, which adds classes whose code is in `library`; it is kept as long as the registry.
  // `environment` becomes part of the keys of their results.
  void addFrom(std::shared_ptr<void> library, const std::string& environment,
               const std::function<void()>& add);

  const EstimatorDescription* find(const std::string& name) const;
  // Valid as long as the registry.
  EstimatorLookup lookup() const;
  std::vector<const EstimatorDescription*> all() const; // by name
  // `resolvedOptions` come from resolveOptions. Throws Error for a name that is not registered or
  // not available.
  std::unique_ptr<Estimator> create(const std::string& name, const Json& resolvedOptions) const;

  // An estimator for programs that keep it. `config` has the options as a configuration object has
  // them, with sub-objects for bases; `overrides` changes some by flat name, such as
  // {"roofline_peak_flops": 1e12} (see withOverrides). Throws UsageError for what the class does
  // not know, and as create().
  std::unique_ptr<Estimator> make(const std::string& name, const Json& config,
                                  const Json& overrides = Json(),
                                  const Services& services = Services()) const;
  // Makes one, reads the file with the services' reader, estimates it and saves the cache. Throws
  // UsageError, ItemError and StorageError.
  EstimatorResult run(const std::string& name, const Json& config, const std::string& mlirFile,
                      const Services& services) const;

private:
  void addClass(std::shared_ptr<const ClassDeclaration> declaration);

  std::shared_ptr<KernelBuilder> kernels_;
  std::vector<std::shared_ptr<void>> libraries_; // first: closed after all that is of their code
  std::string environment_;                      // of the library that is adding its classes
  DeclaredBases bases_;                          // of one library: classes of two may share a name
  std::map<const ClassDeclaration*, std::shared_ptr<const HandlerTable>> tables_; // of bases_
  std::map<std::string, std::shared_ptr<const EstimatorPlan>, std::less<>> plans_;
};

// The estimators that come with Nocturne.
void registerBuiltins(EstimatorRegistry& registry);

} // namespace nocturne
