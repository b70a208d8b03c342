#include "estimators/plan.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "engine/error.h"
#include "estimators/check_declaration.h"
#include "estimators/estimator_base.h"

namespace nocturne {

namespace {

using Declaration = std::shared_ptr<const ClassDeclaration>;

// Puts bases before what extends them, each class once, at its first place.
class Lineariser {
public:
  explicit Lineariser(EstimatorPlan& plan) : plan_(plan) {}

  uint32_t visit(const Declaration& declaration) {
    std::vector<uint32_t> firstHere;
    for (const BaseDeclaration& base : declaration->bases) {
      if (places_.contains(base.base->type))
        continue;
      uint32_t place = visit(base.base);
      plan_.classes[place].upcast = base.upcast;
      firstHere.push_back(place);
    }
    auto place = static_cast<uint32_t>(plan_.classes.size());
    plan_.classes.push_back({declaration, place, nullptr});
    places_.emplace(declaration->type, place);
    for (uint32_t base : firstHere)
      plan_.classes[base].derived = place;
    return place;
  }

private:
  EstimatorPlan& plan_;
  std::map<std::type_index, uint32_t> places_;
};

void checkDisplayNames(const EstimatorPlan& plan) {
  std::set<std::string> seen;
  for (const PlanClass& one : plan.classes)
    if (!seen.insert(one.declaration->name).second)
      throwDeclarationError(*plan.classes.back().declaration,
                            "two of its bases are called \"" + one.declaration->name + '"');
}

// Options of one class as others that extend it see them.
struct Schema {
  OptionSchema all;
  std::vector<BoundOption> bound;
};

class SchemaMaker {
public:
  explicit SchemaMaker(const EstimatorPlan& plan) : plan_(plan) {}

  Schema make(const Declaration& declaration) {
    visited_.insert(declaration->type);
    Schema out;
    out.all.options.reserve(declaration->options.size());
    out.bound.reserve(declaration->options.size());
    for (size_t i = 0; i < declaration->options.size(); ++i) {
      out.all.options.push_back(declaration->options[i].option);
      out.bound.push_back(
          {{declaration->options[i].option.name}, declaration, i, placeOf(declaration)});
    }
    for (const BaseDeclaration& base : declaration->bases)
      if (!visited_.contains(base.base->type))
        inherit(out, *base.base, make(base.base));
    return out;
  }

private:
  // Among the first options of a schema, or all.
  static const ConfigOption* find(const OptionSchema& schema, const std::string& name,
                                  size_t first = SIZE_MAX) {
    for (size_t i = 0; i < std::min(first, schema.options.size()); ++i)
      if (schema.options[i].name == name)
        return &schema.options[i];
    return nullptr;
  }

  // Top-level options stay where they are, the others move into a sub-object. An option that the
  // class declares anew stands for the base's as well.
  void inherit(Schema& out, const ClassDeclaration& base, Schema&& from) {
    const size_t own = out.all.options.size(); // before those that come from this base
    OptionSchema moved;
    moved.options.reserve(from.all.options.size());
    out.all.options.reserve(own + from.all.options.size());
    out.bound.reserve(out.bound.size() + from.bound.size());
    moved.nested = std::move(from.all.nested);
    for (ConfigOption& option : from.all.options) {
      if (find(out.all, option.name, own) != nullptr)
        continue;
      (option.topLevel ? out.all : moved).options.push_back(std::move(option));
    }
    for (BoundOption& bound : from.bound) {
      bool direct = bound.path.size() == 1 && find(out.all, bound.path.front()) != nullptr;
      if (!direct)
        bound.path.insert(bound.path.begin(), base.name);
      out.bound.push_back(std::move(bound));
    }
    if (moved.options.empty() && moved.nested.empty())
      return;
    if (find(out.all, base.name) != nullptr)
      throwDeclarationError(*plan_.classes.back().declaration,
                            "option \"" + base.name + "\" hides the options of that base");
    out.all.nested.emplace(base.name, std::move(moved));
  }

  uint32_t placeOf(const Declaration& declaration) const {
    for (uint32_t i = 0; i < plan_.classes.size(); ++i)
      if (plan_.classes[i].declaration->type == declaration->type)
        return i;
    return 0;
  }

  const EstimatorPlan& plan_;
  std::set<std::type_index> visited_;
};

// A digest of each option's flat name, without making the names.
void addFlatDigests(const OptionSchema& schema, uint64_t prefix, std::vector<uint64_t>& digests) {
  constexpr uint64_t kFnvPrime = 0x100000001b3;
  const auto extended = [](uint64_t digest, const std::string& word) {
    for (const char c : word)
      digest = (digest ^ static_cast<unsigned char>(c)) * kFnvPrime;
    return digest;
  };
  for (const ConfigOption& option : schema.options)
    digests.push_back(extended(prefix, option.name));
  for (const auto& [name, nested] : schema.nested)
    addFlatDigests(nested, (extended(prefix, name) ^ '_') * kFnvPrime, digests);
}

// Options are given by flat name on the command line and in code, so that each needs its own.
void checkFlatNames(const ClassDeclaration& declaration, const OptionSchema& schema) {
  std::vector<uint64_t> digests;
  digests.reserve(64);
  addFlatDigests(schema, 0xcbf29ce484222325, digests);
  std::sort(digests.begin(), digests.end());
  if (std::adjacent_find(digests.begin(), digests.end()) == digests.end())
    return;
  std::vector<std::string> paths = optionPaths(schema), names;
  for (const std::string& path : paths)
    names.push_back(flatName(path));
  std::sort(names.begin(), names.end());
  const auto same = std::adjacent_find(names.begin(), names.end());
  if (same == names.end())
    return; // two names of one digest
  std::erase_if(paths, [&](const std::string& path) { return flatName(path) != *same; });
  std::sort(paths.begin(), paths.end());
  throwDeclarationError(declaration, "options \"" + paths[0] + "\" and \"" + paths[1] +
                                         "\" have the same flat name");
}

template <typename... S>
void append(std::vector<BoundHook<S...>>& to, const std::vector<Method<S...>>& from,
            uint32_t classIndex, bool perDistinct) {
  for (const Method<S...>& method : from)
    to.push_back({method, classIndex, perDistinct});
}

void bindHooks(EstimatorPlan& plan, uint32_t index) {
  const ClassDeclaration& declaration = *plan.classes[index].declaration;
  const HookLists<Method>& from = declaration.hooks;
  bool perDistinct = declaration.opHooksPerDistinct;
  append(plan.hooks.init, from.init, index, perDistinct);
  append(plan.hooks.preOp, from.preOp, index, perDistinct);
  append(plan.hooks.postOp, from.postOp, index, perDistinct);
  append(plan.hooks.preRun, from.preRun, index, perDistinct);
  append(plan.hooks.postRun, from.postRun, index, perDistinct);
  append(plan.hooks.preEstimate, from.preEstimate, index, perDistinct);
  append(plan.hooks.postEstimate, from.postEstimate, index, perDistinct);
  append(plan.hooks.moduleMetadata, from.moduleMetadata, index, perDistinct);
  append(plan.hooks.metadata, from.metadata, index, perDistinct);
  append(plan.hooks.cacheHit, from.cacheHit, index, perDistinct);
  append(plan.hooks.cacheMiss, from.cacheMiss, index, perDistinct);
  plan.hasRowHooks |= !perDistinct && !(from.preOp.empty() && from.postOp.empty());
  plan.description.hooksSeeHits |=
      !declaration.hitsNeedNoModule &&
      !(from.preEstimate.empty() && from.postEstimate.empty() && from.cacheHit.empty());
}

// Later classes override earlier ones, name by name.
void addHandlers(HandlerTable& table, const ClassDeclaration& declaration, uint32_t index) {
  std::vector<std::string> added;
  std::vector<BoundHandler> addedHandlers;
  for (const HandlerDeclaration& handler : declaration.handlers)
    for (const std::string& name : handler.names) {
      const uint32_t place = table.names->find(name);
      if (place != NameTable::kNone) {
        table.overridden.push_back({place, index, table.handlers[place]});
        table.handlers[place] = {handler.method, index};
      } else {
        added.push_back(name);
        addedHandlers.push_back({handler.method, index});
      }
    }
  if (declaration.defaultHandler)
    table.defaultHandler = {*declaration.defaultHandler, index};
  if (added.empty())
    return;
  std::vector<std::string> names = table.names->names();
  names.insert(names.end(), added.begin(), added.end());
  table.names = std::make_shared<NameTable>(std::move(names));
  table.handlers.insert(table.handlers.end(), addedHandlers.begin(), addedHandlers.end());
}

// Of the first classes of the plan, down to its first base, from the tables.
HandlerTable inheritedHandlers(const EstimatorPlan& plan, size_t count, HandlerTables& tables) {
  if (count == 0)
    return {};
  std::shared_ptr<const HandlerTable>& known = tables[plan.classes[count - 1].declaration.get()];
  if (!known) {
    auto table = std::make_shared<HandlerTable>();
    for (uint32_t i = 0; i < count; ++i)
      addHandlers(*table, *plan.classes[i].declaration, i);
    known = std::move(table);
  }
  return *known;
}

size_t classesOfFirstBase(const EstimatorPlan& plan) {
  const std::vector<BaseDeclaration>& bases = plan.classes.back().declaration->bases;
  for (size_t i = 0; !bases.empty() && i < plan.classes.size(); ++i)
    if (plan.classes[i].declaration->type == bases.front().base->type)
      return i + 1;
  return 0;
}

void bindHandlers(EstimatorPlan& plan, HandlerTables& tables) {
  const size_t inherited = classesOfFirstBase(plan);
  plan.operations = inheritedHandlers(plan, inherited, tables);
  for (size_t i = inherited; i < plan.classes.size(); ++i)
    addHandlers(plan.operations, *plan.classes[i].declaration, static_cast<uint32_t>(i));
}

void describe(EstimatorPlan& plan, const Declaration& declaration) {
  EstimatorDescription& out = plan.description;
  out.name = declaration->name;
  out.help = declaration->help;
  out.allowMultiprocess = declaration->allowMultiprocess;
  out.wholeModule = plan.operations.handlers.empty();
  for (const PlanClass& one : plan.classes) {
    out.versions.emplace_back(one.declaration->name, one.declaration->version);
    if (out.unavailable.empty() && one.declaration->unavailable)
      out.unavailable = one.declaration->unavailable();
    out.unavailabilityIsFinal &= one.declaration->unavailabilityIsFinal;
  }
  Schema schema = SchemaMaker(plan).make(declaration);
  checkFlatNames(*declaration, schema.all);
  out.options = std::move(schema.all);
  plan.options = std::move(schema.bound);
  std::stable_sort(
      plan.options.begin(), plan.options.end(),
      [](const BoundOption& a, const BoundOption& b) { return a.classIndex < b.classIndex; });
}

// The same base reached over two ways has to be one object, else options and state would be split.
void checkSharedBases(const EstimatorPlan& plan) {
  const ClassDeclaration& declaration = *plan.classes.back().declaration;
  size_t named = 0;
  for (const PlanClass& one : plan.classes)
    named += one.declaration->bases.size();
  if (named + 1 == plan.classes.size())
    return; // each base is reached once
  auto [made, self] = declaration.make();
  std::vector<void*> objects = plan.objects(self);
  std::map<std::type_index, void*> byType;
  for (size_t i = 0; i < plan.classes.size(); ++i)
    byType[plan.classes[i].declaration->type] = objects[i];
  for (size_t i = 0; i < plan.classes.size(); ++i)
    for (const BaseDeclaration& base : plan.classes[i].declaration->bases)
      if (base.upcast(objects[i]) != byType.at(base.base->type))
        throwDeclarationError(declaration, "base \"" + base.base->name +
                                               "\" is there twice: inherit it virtually");
}

void addKernels(EstimatorPlan& plan, const KernelBuilder* kernels) {
  plan.measuresKernels = std::ranges::any_of(
      plan.classes, [](const PlanClass& one) { return one.declaration->measuresKernels; });
  EstimatorDescription& description = plan.description;
  if (plan.measuresKernels && kernels != nullptr) {
    description.environment = withKernels(description.environment, *kernels);
    plan.kernelsKnown = true;
  } else if (plan.measuresKernels && description.unavailable.empty()) {
    description.unavailable = "this build has no compiler";
    description.unavailabilityIsFinal = false; // services may bring one
  }
}

} // namespace

std::vector<void*> EstimatorPlan::objects(void* self) const {
  std::vector<void*> out(classes.size());
  out.back() = self;
  for (size_t i = classes.size() - 1; i-- > 0;)
    out[i] = classes[i].upcast(out[classes[i].derived]);
  return out;
}

std::string withKernels(const std::string& environment, const KernelBuilder& kernels) {
  return environment + (environment.empty() ? "" : "; ") + kernels.environmentText();
}

std::shared_ptr<const EstimatorPlan> makePlan(const Declaration& declaration,
                                              const std::string& environment,
                                              const KernelBuilder* kernels, HandlerTables& tables) {
  checkDeclaration(*declaration); // its bases were when it named them
  auto plan = std::make_shared<EstimatorPlan>();
  Lineariser(*plan).visit(declaration);
  checkDisplayNames(*plan);
  if (declaration->make == nullptr)
    throwDeclarationError(*declaration, "it cannot be made without arguments");
  if (plan->classes.front().declaration->type != typeid(Estimator))
    throwDeclarationError(*declaration, "it does not extend any estimator");
  checkSharedBases(*plan);
  for (uint32_t i = 0; i < plan->classes.size(); ++i)
    bindHooks(*plan, i);
  bindHandlers(*plan, tables);
  describe(*plan, declaration);
  plan->description.environment = environment;
  addKernels(*plan, kernels);
  return plan;
}

} // namespace nocturne
