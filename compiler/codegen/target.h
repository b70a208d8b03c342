// The processor that code is made for.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class MCSubtargetInfo;
}

namespace nocturne::compiler {

// As LLVM names it; both texts are part of every key of what is built.
struct CpuTarget {
  std::string cpu = "x86-64";
  std::string features; // "+avx2,-sse4a,..."

  bool operator==(const CpuTarget&) const = default;
};

// "native" becomes this machine's processor with all its features; a level such as "x86-64-v3" or a
// name such as "skylake-avx512" stays as it is. Throws UsageError for a name that LLVM does not
// know, and for a processor that checkMode() refuses.
CpuTarget cpuTarget(const std::string& name);

// Throws UsageError for a processor that has not what all code for x86-64 needs: LLVM would end the
// process.
void checkMode(const CpuTarget& target);

// What a processor must have to run code for `target`: a level by its name, of other processors the
// features, changed by those that are listed. Sorted.
std::vector<std::string> requiredFeatures(const CpuTarget& target);

// Throws UsageError unless `features` lists, with commas, "+name" and "-name" of features that LLVM
// knows: LLVM itself would print a warning and go on.
void checkFeatures(const std::string& features);

// What LLVM knows of a processor; null when it was built without processors.
std::unique_ptr<llvm::MCSubtargetInfo> subtargetInfo(const CpuTarget& target);

} // namespace nocturne::compiler
