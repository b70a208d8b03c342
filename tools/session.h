// What a command works with: where it prints, when to stop.
#pragma once

#include <functional>
#include <ostream>
#include <stop_token>
#include <string>

#include "tools/terminal.h"

namespace nocturne::tools {

// Options that every command has.
struct CommonArguments {
  bool json = false; // exactly one JSON value on standard output
  bool quiet = false;
  std::string logLevel = "warn";
};

struct Session {
  std::ostream& out;  // standard output: results
  Terminal& terminal; // standard error: all else
  CommonArguments common;
  std::string commandText; // the command as typed, quoted for a shell
  std::stop_token stop;
  std::function<int()> signal = [] { return 0; }; // that asked to stop, 0 when none did
};

} // namespace nocturne::tools
