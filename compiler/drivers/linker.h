// Objects to one library, by LLVM's linker as a child process.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "compiler/drivers/build_options.h"

namespace nocturne::compiler {

struct LinkRequest {
  std::string directory;            // where the linker runs; it writes nothing outside
  std::vector<std::string> objects; // names in that directory
  std::string output;               // a name in that directory
  OutputKind kind = OutputKind::SharedLibrary;
  // The only symbols that a shared library shows, beside nocturne.identity and those that begin
  // with "nocturne_".
  std::vector<std::string> exports;
  std::vector<std::string> libraries; // by path, beside libc and libm
  std::string soname;
  // The text behind the symbol nocturne.identity, which no function of a module can have.
  std::string identity;
  std::chrono::milliseconds timeout{300'000};
};

// Thread-safe; copies share what they know about the program. The linker is killed with the process
// that started it, so that no orphan goes on writing.
class Linker {
public:
  explicit Linker(std::string program = "ld.lld-22");

  // Of the program and of our way of calling it: part of keys. Throws ItemError (tool_failed) when
  // it is not installed.
  const std::string& version() const;
  // Returns the command and what it printed. Throws ItemError.
  std::string link(const LinkRequest& request) const;

private:
  struct Facts;
  std::string program_;
  std::shared_ptr<Facts> facts_;
};

} // namespace nocturne::compiler
