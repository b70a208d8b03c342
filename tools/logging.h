// The log: spdlog's default logger, on standard error, around the status line.
#pragma once

#include <string>
#include <vector>

#include "tools/terminal.h"

namespace nocturne::tools {

const std::vector<std::string>& logLevels(); // "trace" to "off"

// Sends the default logger to `terminal` for as long as this lives.
class LogScope {
public:
  // Throws UsageError for a level that does not exist.
  LogScope(Terminal& terminal, const std::string& level);
  ~LogScope();
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;
};

} // namespace nocturne::tools
