// The whole command but for main(): parse, run, and turn every error into a message and exit code.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace nocturne::tools {

// `arguments` without the program's name; signals are blocked already (blockSignals).
int runCommand(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err,
               bool errIsTerminal);

} // namespace nocturne::tools
