#include <iostream>

#include <unistd.h>

#include "tools/run_command.h"
#include "tools/signals.h"

int main(int argc, char** argv) {
  nocturne::tools::blockSignals();
  return nocturne::tools::runCommand({argv + 1, argv + argc}, std::cout, std::cerr,
                                     isatty(STDERR_FILENO) != 0);
}
