// nocturne worker: what other commands start themselves
#include <array>
#include <memory>

#include <unistd.h>

#include "actors/build_worker.h"
#include "compiler/codegen/module_generator.h"
#include "compiler/linking/built_in_linker.h"
#include "tools/commands.h"
#include "tools/exit_codes.h"

namespace nocturne::tools {

namespace {

// Longer than any pass.
constexpr size_t kMostInput = 256;

std::string readStandardInput() {
  std::string text;
  std::array<char, kMostInput> piece;
  while (text.size() < kMostInput) {
    const ssize_t got = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (got <= 0)
      break;
    text.append(piece.data(), static_cast<size_t>(got));
  }
  return text;
}

} // namespace

int worker(const WorkerArguments& arguments, Session&) {
  const uint16_t port = loopbackPort(arguments.connect);
  if (::isatty(STDIN_FILENO) != 0)
    throw UsageError("worker: workers are started by nocturne build");
  const BuildWorkerPass pass = passFromText(readStandardInput(), port);
  dieWithParent();
  // Before anything here starts a thread.
  const std::shared_ptr<compiler::LinkServer> linker = compiler::startLinkServer();
  compiler::BuildDriver driver(std::make_shared<compiler::ModuleGenerator>(),
                               compiler::Linker(compiler::kLinkerProgram, linker));
  serveBuilds(driver, pass);
  return kOk;
}

} // namespace nocturne::tools
