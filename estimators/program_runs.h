// What estimators that run programs share: words with placeholders, times in what a program writes,
// and validators of the options that say so.
#pragma once

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "engine/options.h"
#include "engine/subprocess.h"
#include "engine/temporary_folder.h"

namespace nocturne {

// Throws ItemError: a program went wrong.
[[noreturn]] void failTool(const std::string& message);

// Names without their braces, and what stands for them. What is put in is not looked at again.
using Placeholders = std::vector<std::pair<std::string, std::string>>;
std::string filledIn(const std::string& text, const Placeholders& values);
std::vector<std::string> filledIn(std::vector<std::string> words, const Placeholders& values);

ProgramLimits limitsOf(std::stop_token stop, double timeoutSeconds, double outputBytes = 16777216);
// Runs a program in the folder. Throws ItemError with the program's name when it fails.
ProgramResult runStep(const std::vector<std::string>& words, const TemporaryFolder& scratch,
                      const ProgramLimits& limits);
// Why an estimator that needs these programs cannot run, or "".
std::string missingPrograms(const std::vector<std::string>& programs);

// Where the times are in what a program writes.
struct TimeSource {
  std::string pattern{}; // POSIX extended regular expression; its first group is a number
  std::string pointer{}; // or a JSON pointer into standard output: a number or an array of them
  double secondsPerUnit = 1;
};

// All times in the order in which they were written. Throws ItemError (tool_failed) when there is
// none, or one is no finite number above zero.
std::vector<double> timesIn(const ProgramResult& result, const TimeSource& source);
// In seconds. Throws ItemError unless it is finite and above zero.
double checkedTime(double value, double secondsPerUnit);
// Of "s", "ms", "us" and "ns".
double secondsPerUnit(const std::string& unit);

namespace option {
Json words(const Json& value);        // an array of texts
Json programWords(const Json& value); // the same, the program first
Json jsonPointer(const Json& value);
Json expression(const Json& value); // a regular expression with a group; or ""
} // namespace option

} // namespace nocturne
