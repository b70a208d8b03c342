// What the host does with a function's kernels: a straight line of launches and copies over buffers
// in device memory. No code is made for the host beside it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace nocturne::compiler {

struct PlanOperand {
  bool constant = false; // in the program's constants, otherwise in the block of the call
  uint64_t offset = 0;
  bool operator==(const PlanOperand&) const = default;
};

struct PlanStep {
  enum class Kind : uint8_t { Launch, Copy };
  Kind kind = Kind::Launch;
  uint32_t kernel = 0; // of ProgramPlan::kernels
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  uint64_t bytes = 0;                // of a copy
  std::vector<PlanOperand> operands; // of a copy: source, destination
};

struct PlanArgument {
  uint64_t offset = 0, bytes = 0;
  bool result = false;
};

struct EntryPlan {
  std::vector<PlanArgument> arguments;
  std::vector<PlanStep> steps;
  uint64_t workBytes = 0; // arguments and intermediate tensors, which share what they can
};

struct ProgramPlan {
  std::vector<std::string> kernels;
  std::vector<EntryPlan> entries; // as those of the library
  std::string constants;          // bytes
};

// Every buffer begins at a multiple of this many bytes, as cuMemAlloc's do.
constexpr uint64_t kBufferAlignment = 256;

} // namespace nocturne::compiler
