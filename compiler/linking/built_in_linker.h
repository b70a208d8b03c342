// LLVM's linker as a part of this program.
#pragma once

#include <memory>

#include "compiler/drivers/link_server.h"

namespace nocturne::compiler {

// A server that links as ld.lld-22 does. This process must have one thread only. Null when this
// program was built without the linker's libraries, and when no process can be started.
std::shared_ptr<LinkServer> startLinkServer();

} // namespace nocturne::compiler
