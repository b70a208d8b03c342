// What compiling a module can be told, and how long it took.
#pragma once

#include <string>
#include <vector>

#include "compiler/codegen/target.h"

namespace nocturne::compiler {

// Part of every key of what is built: raised whenever generated code can change.
constexpr unsigned kCodegenVersion = 4;

// Sizes that matrix products and convolutions are cut to; 0 is what the compiler chooses.
struct ProductSizes {
  unsigned tileRows = 0, tileVectors = 0; // of the part of the result that stays in registers
  unsigned panelKib = 0;                  // of the right side that stays in the first cache
  unsigned blockKib = 0;                  // of the left side that stays in the second
  bool operator==(const ProductSizes&) const = default;
};

struct CompileOptions {
  CpuTarget target;
  unsigned level = 3; // of LLVM's optimisation, 0 to 3
  std::string symbolPrefix = "nocturne_";
  // Constants whose values the text leaves out get made-up ones instead of an error.
  bool generateWeights = false;
  bool keepStages = false; // fill ModuleCode::stages
  // How linalg is optimised: the usual way; not at all, for results to compare others with; or as
  // `schedule` says, the text of a module of transform sequences (see schedule.h).
  bool plain = false;
  ProductSizes products;
  std::string schedule;
};

struct StageTime {
  std::string name; // "linalg", "tensors", "buffers", "llvm", "object"
  double seconds;
};
// A line for each, for logs.
std::string timesText(const std::vector<StageTime>& times);

} // namespace nocturne::compiler
