#include "compiler/codegen/target.h"

#include <algorithm>
#include <set>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include "compiler/codegen/object.h"
#include "compiler/codegen/registry.h"
#include "engine/error.h"
#include "engine/options.h"

namespace nocturne::compiler {

namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  for (size_t start = 0; start < list.size();) {
    const size_t end = std::min(list.find(',', start), list.size());
    if (end > start)
      words.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

} // namespace

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
  const std::unique_ptr<llvm::MCSubtargetInfo> info = subtargetInfo({});
  if (!info || !info->isCPUStringValid(name))
    throw UsageError("there is no processor \"" + name +
                     "\"; \"native\" and \"x86-64-v3\" are two that there are");
  checkMode({name, ""});
  return {name, ""};
}

void checkMode(const CpuTarget& target) {
  const std::unique_ptr<llvm::MCSubtargetInfo> info = subtargetInfo(target);
  for (const char* needed : {"64bit", "sse2"})
    if (info && !info->checkFeatures(std::string("+") + needed))
      throw UsageError(
          "no code can be made for the processor \"" + target.cpu + '"' +
          (target.features.empty() ? "" : " with the features \"" + target.features + '"') +
          ": it has no " + needed);
}

std::vector<std::string> requiredFeatures(const CpuTarget& target) {
  std::set<std::string> required;
  if (target.cpu.starts_with("x86-64")) {
    required.insert(target.cpu);
  } else {
    llvm::SmallVector<llvm::StringRef> features;
    if (llvm::X86::parseArchX86(target.cpu) != llvm::X86::CK_None)
      llvm::X86::getFeaturesForCPU(target.cpu, features);
    for (const llvm::StringRef feature : features)
      required.insert(feature.str());
  }
  for (const std::string& word : split(target.features)) {
    if (word[0] == '+')
      required.insert(word.substr(1));
    else
      required.erase(word.substr(1));
  }
  return {required.begin(), required.end()};
}

void checkFeatures(const std::string& features) {
  const std::unique_ptr<llvm::MCSubtargetInfo> info = subtargetInfo({});
  std::vector<std::string> known;
  if (info)
    for (const llvm::SubtargetFeatureKV& feature : info->getAllProcessorFeatures())
      known.emplace_back(feature.Key);
  for (const std::string& word : split(features)) {
    if (word.size() < 2 || (word[0] != '+' && word[0] != '-'))
      throw UsageError("--features: \"" + word + "\" is not of the form +name or -name");
    const std::string name = word.substr(1);
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UsageError("--features: processors have no feature \"" + name + '"' +
                       didYouMean(name, known));
  }
}

std::unique_ptr<llvm::MCSubtargetInfo> subtargetInfo(const CpuTarget& target) {
  initialiseTargets();
  const llvm::Triple triple(kCpuTriple);
  std::string error;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, error);
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      found ? found->createMCSubtargetInfo(triple, target.cpu, target.features) : nullptr);
}

} // namespace nocturne::compiler
