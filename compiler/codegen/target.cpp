#include "compiler/codegen/target.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"

#include "compiler/codegen/object.h"
#include "compiler/codegen/registry.h"
#include "engine/error.h"

namespace nocturne::compiler {

CpuTarget cpuTarget(const std::string& name) {
  if (name == "native") {
    llvm::SubtargetFeatures features;
    for (const auto& feature : llvm::sys::getHostCPUFeatures())
      features.AddFeature(feature.first(), feature.second);
    // The order of a hash table must not reach the keys.
    std::vector<std::string> sorted = features.getFeatures();
    llvm::sort(sorted);
    return {llvm::sys::getHostCPUName().str(), llvm::join(sorted, ",")};
  }
  initialiseTargets();
  llvm::Triple triple(kCpuTriple);
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target ? target->createMCSubtargetInfo(triple, "x86-64", "") : nullptr);
  if (!info || !info->isCPUStringValid(name))
    throw UsageError("there is no processor \"" + name +
                     "\"; \"native\" and \"x86-64-v3\" are two that there are");
  return {name, ""};
}

} // namespace nocturne::compiler
