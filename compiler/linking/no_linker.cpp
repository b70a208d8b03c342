#include "compiler/linking/built_in_linker.h"

namespace nocturne::compiler {

std::shared_ptr<LinkServer> startLinkServer() {
  return nullptr;
}

} // namespace nocturne::compiler
