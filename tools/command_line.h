// From the words of a command line to a call of a subcommand.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/session.h"

namespace nocturne::tools {

struct Invocation {
  CommonArguments common;
  // Empty when `text` is all there is to say: --help and --version.
  std::function<int(Session&)> run;
  std::string text;
  // Heeds the stop token; any other command is ended by the first signal.
  bool stopsGracefully = false;
};

// Throws UsageError, with the nearest name for a command or option that does not exist.
Invocation parseCommandLine(const std::vector<std::string>& arguments);

// The words joined so that a shell gives them back.
std::string shellText(const std::vector<std::string>& words);

} // namespace nocturne::tools
