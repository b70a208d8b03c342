// What compiling a module can be told, and how long it took.
#pragma once

#include <string>

#include "compiler/codegen/target.h"

namespace nocturne::compiler {

// Part of every key of what is built: raised whenever generated code can change.
constexpr unsigned kCodegenVersion = 1;

struct CompileOptions {
  CpuTarget target;
  unsigned level = 3; // of LLVM's optimisation, 0 to 3
  std::string symbolPrefix = "nocturne_";
  // Constants whose values the text leaves out get made-up ones instead of an error.
  bool generateWeights = false;
  bool keepStages = false; // fill ModuleCode::stages
};

struct StageTime {
  std::string name; // "linalg", "tensors", "buffers", "llvm", "object"
  double seconds;
};

} // namespace nocturne::compiler
