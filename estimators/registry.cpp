#include "estimators/registry.h"

#include <utility>

#include "engine/error.h"
#include "estimators/plan.h"

namespace nocturne {

void EstimatorRegistry::addClass(std::shared_ptr<const ClassDeclaration> declaration) {
  std::shared_ptr<const EstimatorPlan> plan =
      makePlan(declaration, environment_, kernels_.get(), tables_);
  if (!plans_.emplace(declaration->name, std::move(plan)).second)
    throw Error("two estimator classes are called \"" + declaration->name + '"');
}

void EstimatorRegistry::addFrom(std::shared_ptr<void> library, const std::string& environment,
                                const std::function<void()>& add) {
  libraries_.push_back(std::move(library));
  environment_ = environment;
  DeclaredBases others = std::exchange(bases_, {});
  HandlerTables otherTables = std::exchange(tables_, {});
  const auto restore = [&] {
    environment_.clear();
    bases_ = std::move(others);
    tables_ = std::move(otherTables);
  };
  try {
    add();
  } catch (...) {
    restore();
    throw;
  }
  restore();
}

const EstimatorDescription* EstimatorRegistry::find(const std::string& name) const {
  auto place = plans_.find(name);
  return place == plans_.end() ? nullptr : &place->second->description;
}

EstimatorLookup EstimatorRegistry::lookup() const {
  return [this](const std::string& name) { return find(name); };
}

std::vector<const EstimatorDescription*> EstimatorRegistry::all() const {
  std::vector<const EstimatorDescription*> out;
  for (const auto& [name, plan] : plans_)
    out.push_back(&plan->description);
  return out;
}

std::unique_ptr<Estimator> EstimatorRegistry::create(const std::string& name,
                                                     const Json& resolvedOptions) const {
  auto place = plans_.find(name);
  if (place == plans_.end())
    throw Error("no estimator is called \"" + name + '"');
  const EstimatorPlan& plan = *place->second;
  if (!plan.description.unavailable.empty() && plan.description.unavailabilityIsFinal)
    throw Error("estimator \"" + name + "\" is not available: " + plan.description.unavailable);
  auto [made, self] = plan.classes.back().declaration->make();
  made->kernels_ = kernels_;
  made->setUp(place->second, self, resolvedOptions);
  return std::move(made);
}

std::unique_ptr<Estimator> EstimatorRegistry::make(const std::string& name, const Json& config,
                                                   const Json& overrides,
                                                   const Services& services) const {
  const EstimatorDescription* description = find(name);
  if (description == nullptr) {
    std::vector<std::string> names;
    for (const auto& [known, plan] : plans_)
      names.push_back(known);
    throw UsageError("no estimator is called \"" + name + '"' + didYouMean(name, names));
  }
  const OptionSchema& schema = description->options;
  const Json options = resolveOptions(schema, withOverrides(schema, config, overrides), Json(), "");
  std::unique_ptr<Estimator> made = create(name, options);
  if (!made->kernels_)
    made->kernels_ = services.kernels;
  made->openCache(services, options);
  return made;
}

EstimatorResult EstimatorRegistry::run(const std::string& name, const Json& config,
                                       const std::string& mlirFile,
                                       const Services& services) const {
  if (!services.reader)
    throw Error("these services read no files");
  const std::unique_ptr<Estimator> estimator = make(name, config, Json(), services);
  EstimatorResult result = estimator->getEstimate(*services.reader->read(mlirFile));
  estimator->writeCache();
  return result;
}

} // namespace nocturne
