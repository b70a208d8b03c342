// The external programs of builds for CUDA devices.
#pragma once

#include <string>

#include "compiler/cuda/cuda_target.h"

namespace nocturne::compiler {

// What NVIDIA's assembler says about `ptx`: registers and spills of each kernel. "" when the
// machine has no ptxas in its $PATH; one that does not know the device says so. Throws ItemError
// (tool_failed) when it refuses the text.
std::string checkPtx(const std::string& ptx, const CudaTarget& target);

// One object file of the program's own and the launcher's. Throws ItemError (tool_failed) when the
// linker is missing or fails.
std::string withLauncher(const std::string& object);

} // namespace nocturne::compiler
