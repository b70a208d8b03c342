#include "compiler/cuda/device_tools.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "compiler/cuda/embedded_launcher.h"
#include "compiler/drivers/linker.h"
#include "engine/error.h"
#include "engine/subprocess.h"

namespace nocturne::compiler {

namespace {

constexpr std::chrono::milliseconds kAssemblerTimeout{120'000};

// Gone, with what is in it, at the end of the scope.
class ScratchFolder {
public:
  ScratchFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "nocturne-cuda-XXXXXX";
    if (!mkdtemp(pattern.data()))
      throw StorageError(StorageErrorKind::Other,
                         pattern + ": cannot be made: " + std::strerror(errno));
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

  void write(const char* name, std::string_view content) const {
    const std::string path = path_ + '/' + name;
    std::ofstream file(path, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!file.flush())
      throw StorageError(StorageErrorKind::Full, path + ": cannot be written");
  }

  std::string read(const char* name) const {
    std::ifstream file(path_ + '/' + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

private:
  std::string path_;
};

} // namespace

std::string checkPtx(const std::string& ptx, const CudaTarget& target) {
  const std::string program = findProgram("ptxas");
  if (program.empty() || ptx.empty())
    return "";
  const ScratchFolder folder;
  folder.write("kernel.ptx", ptx);
  ProgramLimits limits;
  limits.timeout = kAssemblerTimeout;
  const ProgramResult result =
      runProgram({program, "-v", "--gpu-name", target.arch, "-o", "kernel.cubin", "kernel.ptx"},
                 folder.path(), limits);
  if (result.succeeded())
    return result.output + result.errors;
  // Each release knows some devices only: old ones are dropped.
  if (result.errors.find("gpu-name") != std::string::npos)
    return "not checked: " + program + " does not know " + target.arch + '\n';
  throw ItemError({FailureKind::ToolFailed,
                   "ptxas refuses the kernels: " + result.problem() + '\n' + result.errors, "", 0,
                   0});
}

std::string withLauncher(const std::string& object) {
  const ScratchFolder folder;
  folder.write("program.o", object);
  folder.write("launcher.o", embeddedLauncher());
  LinkRequest request;
  request.directory = folder.path();
  request.objects = {"program.o", "launcher.o"};
  request.output = "whole.o";
  request.kind = OutputKind::Object;
  Linker().link(request);
  return folder.read("whole.o");
}

} // namespace nocturne::compiler
