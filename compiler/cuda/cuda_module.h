// A StableHLO module to a program for CUDA devices.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/codegen/compile_options.h"
#include "compiler/cuda/cuda_target.h"
#include "compiler/cuda/plan.h"
#include "compiler/drivers/code_generator.h"
#include "compiler/reader/parse.h"
#include "engine/error.h"

namespace nocturne::compiler {

struct CudaOptions {
  CudaTarget target;
  CpuTarget host;     // runs the code around the kernels
  unsigned level = 3; // of LLVM's optimisation, 0 to 3
  std::string symbolPrefix = "nocturne_";
  bool generateWeights = false; // as of CompileOptions
  bool keepStages = false;      // fill CudaCode::stages
  bool check = true;            // by ptxas, where there is one
};

struct CudaCode {
  // ELF. Its entry points take and give memory of the host; launch_plan.h has what they return. It
  // refers to functions of libc and to nothing else.
  std::string object;
  std::vector<LibraryEntry> entries;
  std::string ptx;  // "" when no function computes anything
  ProgramPlan plan; // what is launched, in which geometry
  std::string log;  // of ptxas
  std::vector<StageTime> times;
  // Name and text of the IR after each stage.
  std::vector<std::pair<std::string, std::string>> stages;
};

// Compiles every public function of `parsed`, which is used up. Operations that would need the host
// to decide or to compute something between kernels are a failure of kind UnsupportedOp, with their
// place.
mlir::LogicalResult generateCuda(ParsedModule& parsed, const CudaOptions& options, CudaCode& code,
                                 Failure& failure);

// The same from the text of a module, with `path` as the file of its places.
mlir::LogicalResult generateCuda(std::string text, const std::string& path,
                                 const CudaOptions& options, CudaCode& code, Failure& failure);

// Part of every key of what is built: raised whenever generated code can change.
constexpr unsigned kCudaVersion = 1;

} // namespace nocturne::compiler
