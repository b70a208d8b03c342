// Scratch folders, a driver over the fake generator, and builders in other processes.
#pragma once

#include <string>
#include <vector>

#include "compiler/drivers/compiled_module.h"
#include "compiler/drivers/driver.h"
#include "tests/compiler/drivers/fake_generator.h"

namespace nocturne::test {

// A directory of its own, removed at the end.
class ScratchDir {
public:
  ScratchDir();
  ~ScratchDir();
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

private:
  std::string path_;
};

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
std::string readText(const std::string& path);
void writeText(const std::string& path, const std::string& text);
// Changes one byte in the middle; size and time of modification stay.
void flipByte(const std::string& path);
std::vector<std::string> namesIn(const std::string& folder);
// Calls the entry with 1, 2, 3, 4 and returns what became of the 3.
float callWithThree(const compiler::CompiledFunction& function);

} // namespace nocturne::test
