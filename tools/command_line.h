// From the words of a command line to a call of a subcommand.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/session.h"

namespace nocturne::tools {

struct Invocation {
  CommonArguments common;
  // Empty when `text` is all there is to say: --help and --version.
  std::function<int(Session&)> run;
  std::string text;
  // Heeds the stop token and says this at the first signal, and at the second, which ends it. The
  // first signal ends any other command; both are "" for it.
  std::string_view stopping, stopped;
};

// Throws UsageError, with the nearest name for a command or option that does not exist.
Invocation parseCommandLine(const std::vector<std::string>& arguments);

// The words joined so that a shell gives them back.
std::string shellText(const std::vector<std::string>& words);

} // namespace nocturne::tools
