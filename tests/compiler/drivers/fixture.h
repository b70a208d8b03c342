// A driver over the fake generator, and builders in other processes.
#pragma once

#include <string>
#include <vector>

#include "compiler/drivers/compiled_module.h"
#include "compiler/drivers/driver.h"
#include "tests/compiler/drivers/fake_generator.h"
#include "tests/support/scratch_dir.h"

namespace nocturne::test {

// A program with pipes to its standard input and from its standard output.
class Program {
public:
  explicit Program(const std::vector<std::string>& command);
  ~Program(); // kills it
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  std::string readLine(); // "" at the end
  void goOn();            // lets a probe pass the step that it stopped at
  void kill();            // SIGKILL, and waits
  int wait();             // exit status, -1 when a signal ended it
  int pid() const { return pid_; }

private:
  int pid_ = -1, in_ = -1, out_ = -1;
};

// drivers_probe OUTPUT_DIR ENTRY FACTOR, stopping at a step ("" for none).
std::vector<std::string> probe(const std::string& outputDir, const std::string& stopAt,
                               const std::vector<std::string>& more = {});

compiler::BuildOptions into(const std::string& outputDir);
// Changes one byte in the middle; size and time of modification stay.
void flipByte(const std::string& path);
std::vector<std::string> namesIn(const std::string& folder);
// Calls the entry with 1, 2, 3, 4 and returns what became of the 3.
float callWithThree(const compiler::CompiledFunction& function);

} // namespace nocturne::test
