#include "compiler/codegen/compile_options.h"

#include <cstdio>

namespace nocturne::compiler {

std::string timesText(const std::vector<StageTime>& times) {
  std::string text;
  for (const StageTime& time : times) {
    char number[32];
    std::snprintf(number, sizeof number, "%.3f ms\n", time.seconds * 1e3);
    text.append("  ").append(time.name).append(": ").append(number);
  }
  return text;
}

} // namespace nocturne::compiler
