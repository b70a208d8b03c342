#include "compiler/cuda/cuda_target.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include "engine/error.h"
#include "engine/options.h"

namespace nocturne::compiler {

namespace {

struct Device {
  std::string_view arch;
  unsigned leastPtx; // LLVM ends the process when it is asked for less
};

constexpr std::array<Device, 22> kDevices = {{
    {"sm_70", 60},   {"sm_72", 61},   {"sm_75", 63},   {"sm_80", 70},   {"sm_86", 71},
    {"sm_87", 74},   {"sm_88", 90},   {"sm_89", 78},   {"sm_90", 78},   {"sm_90a", 80},
    {"sm_100", 86},  {"sm_100a", 86}, {"sm_101", 86},  {"sm_101a", 86}, {"sm_103", 88},
    {"sm_103a", 88}, {"sm_110", 90},  {"sm_110a", 90}, {"sm_120", 87},  {"sm_120a", 87},
    {"sm_121", 88},  {"sm_121a", 88},
}};

// What LLVM 22 can write.
constexpr std::array<unsigned, 25> kPtxVersions = {60, 61, 62, 63, 64, 65, 70, 71, 72,
                                                   73, 74, 75, 76, 77, 78, 80, 81, 82,
                                                   83, 84, 85, 86, 87, 88, 90};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Device& device : kDevices)
    all.emplace_back(device.arch);
  return all;
}

Device findDevice(const std::string& arch) {
  for (const Device& device : kDevices)
    if (device.arch == arch)
      return device;
  throw UsageError("--arch: there is no CUDA architecture \"" + arch +
                   "\" between sm_70 and sm_121a" + didYouMean(arch, names()));
}

std::string dotted(unsigned version) {
  return std::to_string(version / 10) + '.' + std::to_string(version % 10);
}

bool isPtxVersion(unsigned version) {
  return std::find(kPtxVersions.begin(), kPtxVersions.end(), version) != kPtxVersions.end();
}

unsigned parsePtxVersion(const std::string& features) {
  constexpr std::string_view kStart = "+ptx";
  unsigned version = 0;
  const char* end = features.data() + features.size();
  if (features.starts_with(kStart)) {
    const auto [stop, error] = std::from_chars(features.data() + kStart.size(), end, version);
    if (error == std::errc() && stop == end && isPtxVersion(version))
      return version;
  }
  throw UsageError("--features: \"" + features +
                   "\" is no version of PTX between +ptx60 and +ptx90; other features there are "
                   "none for CUDA");
}

} // namespace

std::string CudaTarget::features() const {
  return "+ptx" + std::to_string(ptxVersion);
}

std::string CudaTarget::ptxText() const {
  return dotted(ptxVersion);
}

CudaTarget cudaTarget(const std::string& arch, const std::string& features) {
  CudaTarget target;
  if (!arch.empty())
    target.arch = arch;
  const Device device = findDevice(target.arch);
  target.ptxVersion = features.empty() ? device.leastPtx : parsePtxVersion(features);
  if (target.ptxVersion < device.leastPtx)
    throw UsageError("--features: " + target.arch + " needs PTX " + dotted(device.leastPtx) +
                     " at least, not " + dotted(target.ptxVersion));
  return target;
}

} // namespace nocturne::compiler
