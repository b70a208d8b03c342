// nocturne measure-module: the process in which a module is built and measured.
#include <iostream>
#include <iterator>

#include <sys/resource.h>

#include "compiler/execution/measure.h"
#include "tools/commands.h"
#include "tools/exit_codes.h"

namespace nocturne::tools {

int measureModule(Session& session) {
  // Whoever started this process tells of its death; a dump would only cost time.
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  const std::string request{std::istreambuf_iterator<char>(std::cin), {}};
  compiler::answerMeasureRequest(request,
                                 [&](std::string_view line) { session.out << line << std::endl; });
  return kOk;
}

} // namespace nocturne::tools
