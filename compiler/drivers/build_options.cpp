#include "compiler/drivers/build_options.h"

namespace nocturne::compiler {

std::string_view libraryName(OutputKind kind) {
  return kind == OutputKind::SharedLibrary ? "lib.so" : "lib.o";
}

std::string_view toString(OutputKind kind) {
  return kind == OutputKind::SharedLibrary ? ".so" : ".o";
}

OutputKind outputKindFromString(std::string_view text) {
  if (text == ".so")
    return OutputKind::SharedLibrary;
  if (text == ".o")
    return OutputKind::Object;
  throw UsageError("there is no output kind \"" + std::string(text) + "\" (there are .so and .o)");
}

std::string_view toString(BuildState state) {
  switch (state) {
  case BuildState::Built:
    return "built";
  case BuildState::Reused:
    return "reused";
  case BuildState::Failed:
    return "failed";
  case BuildState::Cancelled:
    break;
  }
  return "cancelled";
}

BuildReport failedReport(Failure failure) {
  BuildReport report;
  report.state = BuildState::Failed;
  report.failure = std::move(failure);
  return report;
}

} // namespace nocturne::compiler
