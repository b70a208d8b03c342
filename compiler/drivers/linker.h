// Objects to one library, by LLVM's linker as a child process.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "compiler/drivers/build_options.h"
#include "engine/subprocess.h"

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

// How it is found in $PATH.
inline constexpr const char* kLinkerProgram = "ld.lld-22";

class LinkServer;

// Thread-safe; copies share what they know about the program. The linker is killed with the process
// that started it, so that no orphan goes on writing.
class Linker {
public:
  // `server` may be null. It links in the program's place when it has the same linker in itself:
  // the same libraries, sooner.
  explicit Linker(std::string program = kLinkerProgram,
                  std::shared_ptr<LinkServer> server = nullptr);

  // Of the program and of our way of calling it: part of keys. Throws ItemError (tool_failed) when
  // it is not installed.
  const std::string& version() const;
  // Returns the command and what it printed. Throws ItemError.
  std::string link(const LinkRequest& request) const;

private:
  ProgramResult run(const std::vector<std::string>& words, const LinkRequest& request) const;

  struct Facts;
  std::string program_;
  std::shared_ptr<LinkServer> server_;
  std::shared_ptr<Facts> facts_;
};

} // namespace nocturne::compiler
