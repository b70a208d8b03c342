// What the processor at hand can do.
#pragma once

#include <string>
#include <vector>

namespace nocturne::compiler {

// A level ("x86-64-v3") or a feature ("avx2", "fma", "sse4.2"), as compilers spell it. Levels, the
// common features and those that kernels leave out are asked of the processor, others looked up
// where the kernel lists them; what is known to neither is not there.
bool processorHas(const std::string& feature);
// Those that it has not.
std::vector<std::string> missingFeatures(const std::vector<std::string>& features);

} // namespace nocturne::compiler
