// A process that has the linker in itself, so that a link need not start a program.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "engine/subprocess.h"

namespace nocturne::compiler {

// To load a linker and its libraries takes far longer than to link a small module. This is a child
// that links again and again, one request after the other, and dies with the process that started
// it, as the program would. Thread-safe.
class LinkServer {
public:
  // Does what the program would do with these words, of which the first is its name, in the current
  // folder. What it would print goes into `result`, and the exit status. False when the process is
  // not fit for another link.
  using Link = std::function<bool(const std::vector<std::string>& words, ProgramResult& result)>;

  // `linker` is how the program's answer to --version begins. Forks, so this process must have one
  // thread only. Throws ItemError (tool_failed).
  LinkServer(std::string linker, const Link& link);
  ~LinkServer();
  LinkServer(const LinkServer&) = delete;
  LinkServer& operator=(const LinkServer&) = delete;

  const std::string& linker() const { return linker_; }
  // As the program's end would be; the server does not survive its deadline. Nothing when the
  // server is gone, or goes while it links: the program may know why.
  std::optional<ProgramResult> run(const std::vector<std::string>& words,
                                   const std::string& directory, std::chrono::milliseconds timeout);

private:
  void end();

  const std::string linker_;
  std::mutex mutex_; // one request at a time
  int socket_ = -1;
  pid_t process_ = -1; // -1 when it is gone
};

} // namespace nocturne::compiler
