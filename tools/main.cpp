#include <iostream>

#include <fcntl.h>
#include <unistd.h>

#include "tools/run_command.h"
#include "tools/signals.h"

namespace {

// Where a standard stream is closed, the next file or pipe would get its number, and children would
// lose it. Reading from what is put there ends at once; writing to it fails, as it should.
void occupyStandardStreams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(number, F_GETFD) < 0)
      static_cast<void>(open("/dev/null", O_RDONLY));
}

} // namespace

int main(int argc, char** argv) {
  occupyStandardStreams();
  nocturne::tools::blockSignals();
  return nocturne::tools::runCommand({argv + 1, argv + argc}, std::cout, std::cerr,
                                     isatty(STDERR_FILENO) != 0);
}
