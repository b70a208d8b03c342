// The devices that kernels are made for.
#pragma once

#include <string>

namespace nocturne::compiler {

struct CudaTarget {
  std::string arch = "sm_90"; // as LLVM and NVIDIA's tools spell it
  unsigned ptxVersion = 78;   // ten times the version of PTX that the kernels are written in

  // "+ptx78", as LLVM takes it.
  std::string features() const;
  // "7.8", as it is in the text.
  std::string ptxText() const;
  bool operator==(const CudaTarget&) const = default;
};

// `arch` is sm_70 to sm_121, with the letter a for what is of that device only; "" is sm_90.
// `features` is "" or "+ptx80" and the like. Without it the oldest version of PTX is taken that
// knows the device, so that the oldest driver that does can load the kernels. Throws UsageError,
// which names the part that is wrong.
CudaTarget cudaTarget(const std::string& arch, const std::string& features = "");

} // namespace nocturne::compiler
