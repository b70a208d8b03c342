// A class of estimators with all its bases, resolved once when it is registered: what runs, in
// which order, for which object.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/estimator_description.h"
#include "engine/kernel_builder.h"
#include "estimators/declaration.h"
#include "estimators/name_table.h"

namespace nocturne {

template <typename R, typename... A>
struct BoundHook {
  Method<R, A...> method;
  uint32_t classIndex = 0;
  bool perDistinct = false; // of op hooks: one call per distinct operation
};

struct BoundHandler {
  OpHandler method;
  uint32_t classIndex = 0;
};

// The handlers of a class and all its bases, by name of the operation.
struct HandlerTable {
  std::shared_ptr<const NameTable> names = std::make_shared<NameTable>();
  std::vector<BoundHandler> handlers; // by place in `names`
  BoundHandler defaultHandler;        // its method is null when there is none
  // What a class would have inherited for a name that it handles itself.
  struct Overridden {
    uint32_t place = 0, byClass = 0;
    BoundHandler handler;
  };
  std::vector<Overridden> overridden;
};
// Those of bases that were resolved already. A class sees its first base as that base sees itself.
using HandlerTables = std::map<const ClassDeclaration*, std::shared_ptr<const HandlerTable>>;

struct BoundOption {
  std::vector<std::string> path; // in the resolved configuration
  std::shared_ptr<const ClassDeclaration> owner;
  size_t option = 0; // in owner->options
  uint32_t classIndex = 0;
};

struct PlanClass {
  std::shared_ptr<const ClassDeclaration> declaration;
  uint32_t derived = 0;                     // the class that first named it as a base
  void* (*upcast)(void* derived) = nullptr; // null for the class itself
};

struct EstimatorPlan {
  EstimatorDescription description;
  std::vector<PlanClass> classes; // bases first: the order of hooks; the class itself is last
  HandlerTable operations;
  HookLists<BoundHook> hooks;
  bool measuresKernels = false; // a class of the plan does,
  bool kernelsKnown = false;    // and the environment says with what
  bool hasRowHooks = false;     // an op hook wants one call per row
  std::vector<BoundOption> options;

  // The object as each of the classes, given its address as the last of them.
  std::vector<void*> objects(void* self) const;
};

// Checks the declaration and resolves it. `environment` as in EstimatorDescription, without that of
// `kernels`, which classes that measure have in addition; `tables` is added to. Throws Error that
// names the class and the mistake.
std::shared_ptr<const EstimatorPlan>
makePlan(const std::shared_ptr<const ClassDeclaration>& declaration, const std::string& environment,
         const KernelBuilder* kernels, HandlerTables& tables);

// Adds the environment of measurements to that of a class.
std::string withKernels(const std::string& environment, const KernelBuilder& kernels);

} // namespace nocturne
