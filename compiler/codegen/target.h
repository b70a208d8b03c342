// The processor that code is made for.
#pragma once

#include <string>

namespace nocturne::compiler {

// As LLVM names it; both texts are part of every key of what is built.
struct CpuTarget {
  std::string cpu = "x86-64";
  std::string features; // "+avx2,-sse4a,..."

  bool operator==(const CpuTarget&) const = default;
};

// "native" becomes this machine's processor with all its features; a level such as "x86-64-v3" or a
// name such as "skylake-avx512" stays as it is. Throws UsageError for a name that LLVM does not
// know.
CpuTarget cpuTarget(const std::string& name);

} // namespace nocturne::compiler
