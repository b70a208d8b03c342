// How a class of estimators says what it has:
//
//   class Mine : public virtual ComputeEstimator {
//   public:
//     static void describe(EstimatorClass<Mine>& c) {
//       c.name("mine").version(1).extends<ComputeEstimator>().allowMultiprocess();
//       c.option("rate", &Mine::rate_, option::positive).fromHardware("peak_flops").help("FLOP/s");
//       c.opHandler({"stablehlo.add"}, &Mine::add);
//       c.postRunHook(&Mine::report);
//     }
//   };
#pragma once

#include <concepts>
#include <map>
#include <type_traits>

#include "engine/event_stream.h"
#include "engine/statistics.h"
#include "estimators/declaration.h"

namespace nocturne {

// Refines the option that EstimatorClass::option just declared.
class OptionBuilder {
public:
  explicit OptionBuilder(ConfigOption& option) : option_(option) {}
  // Filled from this value of the machine when the user gives none.
  OptionBuilder& fromHardware(std::string key) { return set(&ConfigOption::hardwareKey, key); }
  OptionBuilder& defaultValue(Json value) {
    option_.optional = true;
    return set(&ConfigOption::defaultValue, value);
  }
  // May be left out although it has no default: the member then stays as it was initialised.
  OptionBuilder& optional() { return set(&ConfigOption::optional, true); }
  // Sees the value that the validator kept; returns the one to keep, or throws UsageError.
  OptionBuilder& postValidate(OptionValidator check) {
    return set(&ConfigOption::postValidate, std::move(check));
  }
  // Not in a sub-object of derived classes.
  OptionBuilder& topLevel() { return set(&ConfigOption::topLevel, true); }
  // Not part of result keys.
  OptionBuilder& doesNotInfluenceResult() { return set(&ConfigOption::influencesResult, false); }
  OptionBuilder& help(std::string text) { return set(&ConfigOption::help, text); }

private:
  template <typename M, typename V>
  OptionBuilder& set(M ConfigOption::* member, V&& value) {
    option_.*member = std::forward<V>(value);
    return *this;
  }
  ConfigOption& option_;
};

// Declarations of bases that were made already, each of them checked.
using DeclaredBases = std::map<std::type_index, std::shared_ptr<const ClassDeclaration>>;

template <typename T>
std::shared_ptr<const ClassDeclaration> declarationOf(DeclaredBases& bases);

// Throws Error that names the class and the mistake.
void checkDeclaration(const ClassDeclaration& declaration);

template <typename T>
class EstimatorClass {
public:
  EstimatorClass(ClassDeclaration& declaration, DeclaredBases& bases)
      : declaration_(declaration), bases_(bases) {}

  // The name to select it by, and of the sub-object that holds its options in derived classes.
  // Without it, the name of the class without "Estimator", in lower case.
  EstimatorClass& name(std::string text) { return set(&ClassDeclaration::name, std::move(text)); }
  EstimatorClass& help(std::string text) { return set(&ClassDeclaration::help, std::move(text)); }
  // To be raised whenever results may change: part of every result key.
  EstimatorClass& version(uint32_t number) { return set(&ClassDeclaration::version, number); }
  // Several actors may run the class at once, each with instances of its own; else one actor runs
  // all items of the class, one after the other. Not inherited.
  EstimatorClass& allowMultiprocess() { return set(&ClassDeclaration::allowMultiprocess, true); }
  // The op hooks of this class are called once per distinct operation, with its total multiplicity.
  EstimatorClass& opHooksPerDistinct() { return set(&ClassDeclaration::opHooksPerDistinct, true); }
  // The estimate and cache-hit hooks of this class have nothing to do for a cache hit.
  EstimatorClass& hitsNeedNoModule() { return set(&ClassDeclaration::hitsNeedNoModule, true); }
  // It uses kernels(): what is measured with belongs to the keys of its results, and to those of
  // classes that extend it.
  EstimatorClass& measuresKernels() { return set(&ClassDeclaration::measuresKernels, true); }
  // `reason` returns why the class cannot run here, or an empty text.
  EstimatorClass& availableUnless(std::function<std::string()> reason) {
    return set(&ClassDeclaration::unavailable, std::move(reason));
  }
  // The same for what options may put right, such as the path of a program: the class is listed
  // with the reason, but can be made.
  EstimatorClass& listedUnlessOptionsHelp(std::function<std::string()> reason) {
    set(&ClassDeclaration::unavailabilityIsFinal, false);
    return availableUnless(std::move(reason));
  }

  // Hooks, handlers and options of Base, before those of bases named later.
  template <typename Base>
  EstimatorClass& extends() {
    static_assert(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>);
    static_assert(std::is_convertible_v<T*, Base*>,
                  "the base is there twice: inherit it virtually (public virtual Base)");
    std::shared_ptr<const ClassDeclaration>& base = bases_[typeid(Base)];
    if (!base) {
      std::shared_ptr<const ClassDeclaration> made = declarationOf<Base>(bases_);
      checkDeclaration(*made);
      base = std::move(made);
    }
    declaration_.bases.push_back({base, [](void* derived) -> void* {
                                    return static_cast<Base*>(static_cast<T*>(derived));
                                  }});
    return *this;
  }

  // An option that is stored in a member: bool, number, text, table of numbers or Json.
  template <typename M>
    requires(!std::is_function_v<M>)
  OptionBuilder option(std::string name, M T::* member, OptionValidator validate) {
    return addOption(std::move(name), std::move(validate), [member](void* self, const Json& value) {
      static_cast<T*>(self)->*member = value.get<M>();
    });
  }
  // An option that is given to a member function.
  OptionBuilder option(std::string name, void (T::*setter)(const Json&), OptionValidator validate) {
    return addOption(std::move(name), std::move(validate), [setter](void* self, const Json& value) {
      (static_cast<T*>(self)->*setter)(value);
    });
  }

  EstimatorClass& opHandler(std::vector<std::string> names, OpResult (T::*method)(const OpInfo&)) {
    declaration_.handlers.push_back({std::move(names), OpHandler(method)});
    return *this;
  }
  // For operations without a handler.
  EstimatorClass& defaultOpHandler(OpResult (T::*method)(const OpInfo&));

  EstimatorClass& initHook(void (T::*m)()) { return hook(&Hooks::init, m); }
  EstimatorClass& preOpHook(void (T::*m)(const OpRun&)) { return hook(&Hooks::preOp, m); }
  EstimatorClass& postOpHook(void (T::*m)(const OpRun&, const OpResult&)) {
    return hook(&Hooks::postOp, m);
  }
  EstimatorClass& preRunHook(void (T::*m)(const Module&)) { return hook(&Hooks::preRun, m); }
  EstimatorClass& postRunHook(void (T::*m)(const Module&, const ModuleResult&)) {
    return hook(&Hooks::postRun, m);
  }
  EstimatorClass& preEstimateHook(void (T::*m)(const Module&)) {
    return hook(&Hooks::preEstimate, m);
  }
  EstimatorClass& postEstimateHook(void (T::*m)(const Module&, const EstimatorResult&)) {
    return hook(&Hooks::postEstimate, m);
  }
  EstimatorClass& moduleMetadataHook(Json (T::*m)(const ModuleResult&)) {
    return hook(&Hooks::moduleMetadata, m);
  }
  EstimatorClass& metadataHook(Json (T::*m)()) { return hook(&Hooks::metadata, m); }
  EstimatorClass& cacheHitHook(void (T::*m)(const Module&, const std::string&)) {
    return hook(&Hooks::cacheHit, m);
  }
  EstimatorClass& cacheMissHook(void (T::*m)(const Module&, const std::string&)) {
    return hook(&Hooks::cacheMiss, m);
  }

  // How what two instances hold besides statistics() is joined: Merge is void (T::*)(const T&). A
  // sweep makes an instance for each item and has one instance of a class absorb all others, in any
  // order; the metadata hooks then run on that one.
  template <void (T::*Merge)(const T&)>
  EstimatorClass& mergeWith() {
    declaration_.merge = [](void* self, const void* other) {
      (static_cast<T*>(self)->*Merge)(*static_cast<const T*>(other));
    };
    return *this;
  }

  // For a class with metadata hooks that has nothing to join: what they say is in statistics().
  EstimatorClass& mergesNothing() {
    declaration_.merge = [](void*, const void*) {};
    return *this;
  }

private:
  using Hooks = HookLists<Method>;

  template <typename M, typename V>
  EstimatorClass& set(M ClassDeclaration::* member, V&& value) {
    declaration_.*member = std::forward<V>(value);
    return *this;
  }
  template <typename M, typename F>
  EstimatorClass& hook(std::vector<M> Hooks::* list, F method) {
    (declaration_.hooks.*list).push_back(M(method));
    return *this;
  }
  OptionBuilder addOption(std::string name, OptionValidator validate,
                          std::function<void(void*, const Json&)> setter) {
    ConfigOption option;
    option.name = std::move(name);
    option.validate = std::move(validate);
    declaration_.options.push_back({std::move(option), std::move(setter)});
    return OptionBuilder(declaration_.options.back().option);
  }

  ClassDeclaration& declaration_;
  DeclaredBases& bases_;
};

// Throws Error: a class has one default handler.
[[noreturn]] void throwSecondDefaultHandler(const ClassDeclaration& declaration);

template <typename T>
EstimatorClass<T>& EstimatorClass<T>::defaultOpHandler(OpResult (T::*method)(const OpInfo&)) {
  if (declaration_.defaultHandler)
    throwSecondDefaultHandler(declaration_);
  declaration_.defaultHandler = OpHandler(method);
  return *this;
}

// What a class may not hide with functions of its own: hooks and handlers change what these do.
template <typename T>
struct PublicInterface {
  static const char* hidden() {
    if (!requires {
          requires std::is_same_v<decltype(&T::getEstimate),
                                  Member<EstimatorResult, const Module&>>;
        })
      return "getEstimate";
    if (!requires { requires std::is_same_v<decltype(&T::writeCache), Member<void>>; })
      return "writeCache";
    if (!requires { requires std::is_same_v<decltype(&T::getMetadata), Member<Json>>; })
      return "getMetadata";
    if (!requires {
          requires std::is_same_v<decltype(&T::getStatistics), ConstMember<StatisticsTree>>;
        })
      return "getStatistics";
    if (!requires {
          requires std::is_same_v<decltype(&T::outputEvents),
                                  ConstMember<void, const std::string&, EventFormat>>;
        })
      return "outputEvents";
    if (!requires {
          requires std::is_same_v<decltype(&T::addEvent),
                                  Member<void, std::string, double, std::string, Json>>;
        })
      return "addEvent";
    return "";
  }

private:
  template <typename R, typename... A>
  using Member = R (Estimator::*)(A...);
  template <typename R, typename... A>
  using ConstMember = R (Estimator::*)(A...) const;
};

// "RooflineEstimator" is "roofline".
std::string displayNameOf(const std::type_info& type);

template <typename T>
std::shared_ptr<const ClassDeclaration> declarationOf(DeclaredBases& bases) {
  static_assert(std::is_base_of_v<Estimator, T>, "an estimator derives from nocturne::Estimator");
  static_assert(
      requires(EstimatorClass<T>& c) { T::describe(c); },
      "the class needs its own static void describe(EstimatorClass<T>&)");
  auto declaration = std::make_shared<ClassDeclaration>(std::type_index(typeid(T)));
  EstimatorClass<T> builder(*declaration, bases);
  T::describe(builder);
  if (declaration->name.empty())
    declaration->name = displayNameOf(typeid(T));
  declaration->hidden = PublicInterface<T>::hidden();
  // It adds something of its own, which a sweep would lose.
  if constexpr (!std::is_same_v<T, Estimator>)
    declaration->addsStatistics = requires {
      requires std::is_same_v<decltype(&T::addStatisticsTo), void (T::*)(StatisticsTree&) const>;
    };
  if constexpr (std::is_default_constructible_v<T>)
    declaration->make = [] {
      auto made = std::make_unique<T>();
      void* self = made.get();
      return std::pair<std::unique_ptr<Estimator>, void*>(std::move(made), self);
    };
  return declaration;
}

} // namespace nocturne
