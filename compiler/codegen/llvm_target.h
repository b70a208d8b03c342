// LLVM's part of code generation, as processors and devices have it in common.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"

namespace nocturne::compiler {

struct MachineOptions {
  const char* triple;
  std::string cpu, features; // as LLVM names them
  std::optional<llvm::Reloc::Model> relocation;
  unsigned level = 3; // of LLVM's optimisation, 0 to 3
};

// Null when LLVM was built without the target, with the reason in `problem`.
std::unique_ptr<llvm::TargetMachine> makeMachine(const MachineOptions& options,
                                                 std::string& problem);

// Lays `module` out for the machine and runs the passes of the level.
void optimise(llvm::Module& module, llvm::TargetMachine& machine, unsigned level,
              const llvm::PipelineTuningOptions& tuning = {});

// The file that `module` becomes; false when the target has none of that type.
bool emitFile(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type,
              std::string& bytes);

} // namespace nocturne::compiler
