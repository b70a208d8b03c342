#include "tools/run_command.h"

#include <algorithm>
#include <new>
#include <optional>

#include <poll.h>
#include <unistd.h>

#include "engine/error.h"
#include "tools/command_line.h"
#include "tools/exit_codes.h"
#include "tools/logging.h"
#include "tools/report/summary_json.h"
#include "tools/signals.h"

namespace nocturne::tools {

namespace {

struct Problem {
  int code;
  std::string message, pointer;
};

// The exception that is being handled, as people should see it.
Problem currentProblem() {
  try {
    throw;
  } catch (const UsageError& error) {
    return {kUsage, error.what(), error.pointer()};
  } catch (const StorageError& error) {
    return {error.kind() == StorageErrorKind::Full ? kStopped : kUsage, error.what(), ""};
  } catch (const ItemError& error) {
    return {kFailedItems, error.failure().text(), ""};
  } catch (const std::bad_alloc&) {
    return {kStopped, "out of memory", ""};
  } catch (const std::exception& error) {
    return {kBug, std::string(error.what()) + "\nThis is a bug of nocturne; please report it.", ""};
  } catch (...) {
    return {kBug, "something was thrown that is no exception, as a plug-in may do", ""};
  }
}

void tell(const Problem& problem, bool json, std::ostream& out, Terminal& terminal) {
  terminal.clearStatus();
  terminal.line("nocturne: " + problem.message);
  if (!json)
    return;
  OrderedJson value;
  value["error"]["message"] = problem.message;
  value["error"]["pointer"] = problem.pointer;
  value["error"]["exit_code"] = problem.code;
  out << indentedText(value);
}

int runInvocation(const Invocation& invocation, const std::vector<std::string>& arguments,
                  std::ostream& out, Terminal& terminal) {
  const LogScope log(terminal, invocation.common.logLevel);
  std::vector<std::string> words = {"nocturne"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  Session session{out, terminal, invocation.common, shellText(words), {}};
  if (invocation.stopping.empty()) {
    unblockSignals();
    return invocation.run(session);
  }
  std::stop_source stop;
  std::string lastWords(terminal.interactive() ? "\n" : ""); // below the status line
  lastWords.append(invocation.stopped).push_back('\n');
  const SignalWatcher watcher(
      stop,
      [&] { terminal.line(std::string(invocation.stopping) + "; a second signal stops at once"); },
      lastWords);
  session.stop = stop.get_token();
  session.signal = [&watcher] { return watcher.received(); };
  return invocation.run(session);
}

// Whoever reads our standard output, as `head` does, has had enough of it.
bool outputIsClosed() {
  pollfd pipe{STDOUT_FILENO, 0, 0};
  return poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR) != 0;
}

} // namespace

int runCommand(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err,
               bool errIsTerminal) {
  Terminal terminal(err, errIsTerminal);
  // Until the command line is parsed, the word itself tells.
  bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  int code = kOk;
  try {
    const Invocation invocation = parseCommandLine(arguments);
    json = invocation.common.json;
    if (invocation.run)
      code = runInvocation(invocation, arguments, out, terminal);
    else
      out << invocation.text;
  } catch (...) {
    const Problem problem = currentProblem();
    tell(problem, json, out, terminal);
    code = problem.code;
  }
  if (!out.flush() && !outputIsClosed()) {
    terminal.line("nocturne: standard output cannot be written");
    return kStopped;
  }
  return code;
}

} // namespace nocturne::tools
