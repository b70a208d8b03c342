// Work that may kill its process: done by processes, usually of this program, that answer requests
// with lines and are replaced when they die.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace nocturne::tools {

// How a request ended.
struct LineAnswer {
  enum class End : unsigned char { Answered, Died, TimedOut };
  End end = End::Answered;
  std::string line; // without its end
  int signal = 0;   // of Died; 0 when the process exited by itself, with `code`
  int code = 0;
};

struct LineWorkOptions {
  size_t processes = 1;
  std::chrono::milliseconds timeout{60'000}; // of one request
  size_t requestsPerProcess = 400;           // then a fresh one takes over
  std::stop_token stop;                      // kills the processes; what is not answered stays so
  std::string program = "/proc/self/exe";    // the path of what answers
};

// Starts the program with `arguments` (without its name) as often as asked for, sends every one of
// `requests` with a zero byte after it to one of them, and calls `done` in this thread with the
// index of a request and its answer, in the order in which they come. Requests after `done`
// returned false are not begun. Throws StorageError when no process can be started.
void answerLines(const std::vector<std::string>& arguments,
                 const std::vector<std::string>& requests, const LineWorkOptions& options,
                 const std::function<bool(size_t, const LineAnswer&)>& done);

} // namespace nocturne::tools
