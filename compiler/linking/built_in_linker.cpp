#include "compiler/linking/built_in_linker.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

#include "compiler/drivers/linker.h"
#include "engine/error.h"

LLD_HAS_DRIVER(elf)

namespace nocturne::compiler {

namespace {

// An error that the linker calls fatal ends this process.
bool link(const std::vector<std::string>& words, ProgramResult& result) {
  std::vector<const char*> arguments;
  for (const std::string& word : words)
    arguments.push_back(word.c_str());
  llvm::raw_string_ostream output(result.output), errors(result.errors);
  const lld::Result done = lld::lldMain(arguments, output, errors, {{lld::Gnu, &lld::elf::link}});
  result.code = done.retCode;
  return done.canRunAgain;
}

} // namespace

std::shared_ptr<LinkServer> startLinkServer() {
  ProgramResult version;
  link({kLinkerProgram, "--version"}, version);
  const std::string firstLine = version.output.substr(0, version.output.find('\n'));
  try {
    return std::make_shared<LinkServer>(firstLine, link);
  } catch (const ItemError&) {
    return nullptr; // no room for another process: the program does it
  }
}

} // namespace nocturne::compiler
