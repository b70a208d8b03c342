// External programs: started without a shell, watched, and gone with all their children when the
// call returns.
#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace nocturne {

struct ProgramLimits {
  std::chrono::milliseconds timeout{600'000};
  size_t outputBytes = size_t{16} << 20; // of standard output and standard error together
  std::stop_token stop = {};             // noticed within 50 ms
};

struct ProgramResult {
  enum class End : unsigned char { Exited, Signalled, TimedOut, TooMuchOutput, Stopped };
  End end = End::Exited;
  int code = 0; // exit status, or the signal
  std::string output, errors;

  bool succeeded() const { return end == End::Exited && code == 0; }
  // "exit status 1", "killed by SIGSEGV", "no answer within its deadline", "more output than is
  // read", "stopped before its end", each with the last line of standard error when there is one.
  std::string problem() const;
};

// "SIGSEGV"; "signal 64" for one without a name.
std::string signalName(int signal);

// Where the command `name` is: itself when it has a slash, else in $PATH. "" when there is none
// that can be executed.
std::string findProgram(const std::string& name);

// Runs a program in a process group of its own, with `input` as its standard input. The group is
// killed when the program ends, at the deadline, at the limit of its output, or when a stop is
// asked for. `arguments` has the program first. Throws ItemError (tool_failed) when the program
// cannot be started.
ProgramResult runProgram(const std::vector<std::string>& arguments, const std::string& directory,
                         const ProgramLimits& limits, std::string_view input = {});

} // namespace nocturne
