// The code generator that the drivers are given: StableHLO through MLIR and LLVM.
#pragma once

#include <string>

#include "compiler/drivers/code_generator.h"

namespace nocturne::compiler {

// For targets "cpu" and "cuda" (compiler/cuda). Without --arch code is made for x86-64-v3, which
// servers have had since 2015, or for sm_90, so that the same command gives the same library on
// every machine. The options that it takes as flags are in flags.h. With IR kept, each stage of
// compilation is a file.
class ModuleGenerator : public CodeGenerator {
public:
  // Throws ItemError, UsageError for flags that it does not know, BuildCancelled.
  GeneratedCode generate(const ModuleSource& source, const Target& target,
                         const GenerateOptions& options) override;
  std::string version() const override;
  Target resolve(const Target& target) const override;
};

} // namespace nocturne::compiler
