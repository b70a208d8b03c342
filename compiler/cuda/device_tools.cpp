#include "compiler/cuda/device_tools.h"

#include "compiler/cuda/embedded_launcher.h"
#include "compiler/drivers/linker.h"
#include "engine/error.h"
#include "engine/file_bytes.h"
#include "engine/subprocess.h"
#include "engine/temporary_folder.h"

namespace nocturne::compiler {

namespace {

constexpr std::chrono::milliseconds kAssemblerTimeout{120'000};

} // namespace

std::string checkPtx(const std::string& ptx, const CudaTarget& target) {
  const std::string program = findProgram("ptxas");
  if (program.empty() || ptx.empty())
    return "";
  const TemporaryFolder folder;
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
  const TemporaryFolder folder;
  folder.write("program.o", object);
  folder.write("launcher.o", embeddedLauncher());
  LinkRequest request;
  request.directory = folder.path();
  request.objects = {"program.o", "launcher.o"};
  request.output = "whole.o";
  request.kind = OutputKind::Object;
  Linker().link(request);
  return readFile(folder / "whole.o");
}

} // namespace nocturne::compiler
