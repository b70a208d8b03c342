// What an estimator class declares of itself, its type erased. Authors use EstimatorClass<T>
// (estimator_class.h) to fill it in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include "engine/options.h"
#include "engine/result.h"

namespace nocturne {

class Estimator;

// What an op hook is told: which operation runs, and how often.
struct OpRun {
  const OpInfo& op;
  double multiplicity;        // of the row, or of all rows of the operation (opHooksPerDistinct)
  size_t index;               // of the distinct operation in Module::ops
  const OpRow* row = nullptr; // null when the call stands for all rows
};

// A member function of a class that only its declaration knows. Calls take the object as void*.
//
// Hooks run once for each operation, so that a call through two pointers is felt: twelve empty ones
// took 58 ns that way and take 30 ns this way (machinery_bench). Where a pointer
// to a member function that is not virtual is known to be the address of a function that takes the
// object first (the Itanium ABI on x86-64), that one is called.
template <typename R, typename... A>
class Method {
public:
  Method() = default;
  template <typename T>
  explicit Method(R (T::*method)(A...)) {
    static_assert(sizeof(method) <= sizeof(pointer_));
    std::memcpy(pointer_.data(), &method, sizeof(method));
    call_ = [](void* self, const std::byte* pointer, A... arguments) -> R {
      R (T::*target)(A...);
      std::memcpy(&target, pointer, sizeof(target));
      return (static_cast<T*>(self)->*target)(std::forward<A>(arguments)...);
    };
#if defined(__x86_64__) && defined(__GXX_ABI_VERSION)
    struct Parts {
      uintptr_t function;
      ptrdiff_t adjustment;
    } parts;
    static_assert(sizeof(method) == sizeof(parts));
    std::memcpy(&parts, &method, sizeof(parts));
    if ((parts.function & 1) == 0) {
      direct_ = reinterpret_cast<Direct>(parts.function);
      adjustment_ = parts.adjustment;
    }
#endif
  }
  template <typename T>
  explicit Method(R (T::*method)(A...) const) : Method(reinterpret_cast<R (T::*)(A...)>(method)) {}

  R operator()(void* self, A... arguments) const {
    if (direct_ != nullptr)
      return direct_(static_cast<std::byte*>(self) + adjustment_, std::forward<A>(arguments)...);
    return call_(self, pointer_.data(), std::forward<A>(arguments)...);
  }
  explicit operator bool() const { return call_ != nullptr; }

private:
  using Direct = R (*)(void*, A...);
  alignas(std::max_align_t) std::array<std::byte, 16> pointer_{};
  R (*call_)(void*, const std::byte*, A...) = nullptr;
  Direct direct_ = nullptr;
  ptrdiff_t adjustment_ = 0;
};

using OpHandler = Method<OpResult, const OpInfo&>;

// Every kind of hook; T is Method in a declaration and BoundHook in a plan.
template <template <typename...> typename T>
struct HookLists {
  std::vector<T<void>> init;
  std::vector<T<void, const OpRun&>> preOp;
  std::vector<T<void, const OpRun&, const OpResult&>> postOp;
  std::vector<T<void, const Module&>> preRun;
  std::vector<T<void, const Module&, const ModuleResult&>> postRun;
  std::vector<T<void, const Module&>> preEstimate;
  std::vector<T<void, const Module&, const EstimatorResult&>> postEstimate;
  std::vector<T<Json, const ModuleResult&>> moduleMetadata;
  std::vector<T<Json>> metadata;
  std::vector<T<void, const Module&, const std::string&>> cacheHit;
  std::vector<T<void, const Module&, const std::string&>> cacheMiss;
};

struct OptionDeclaration {
  ConfigOption option;
  std::function<void(void* self, const Json& value)> set;
};

struct HandlerDeclaration {
  std::vector<std::string> names;
  OpHandler method;
};

struct ClassDeclaration;

struct BaseDeclaration {
  std::shared_ptr<const ClassDeclaration> base;
  void* (*upcast)(void* derived);
};

struct ClassDeclaration {
  explicit ClassDeclaration(std::type_index declared) : type(declared) {}

  std::type_index type;
  std::string name, help;
  bool addsStatistics = false; // overrides addStatisticsTo
  std::string hidden{}; // the first function of the public interface that the class hides, or ""
  uint32_t version = 1;
  bool allowMultiprocess = false;
  bool opHooksPerDistinct = false;
  bool hitsNeedNoModule = false;
  bool measuresKernels = false;
  std::vector<BaseDeclaration> bases;
  std::vector<OptionDeclaration> options;
  std::vector<HandlerDeclaration> handlers;
  std::optional<OpHandler> defaultHandler;
  HookLists<Method> hooks;
  std::function<std::string()> unavailable; // reason, empty when it can run
  bool unavailabilityIsFinal = true;        // else options may still make it run
  // The new object, and its address as an object of the declared class. Null for abstract classes.
  std::pair<std::unique_ptr<Estimator>, void*> (*make)() = nullptr;
  void (*merge)(void* self, const void* other) = nullptr;
};

} // namespace nocturne
