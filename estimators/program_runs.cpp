#include "estimators/program_runs.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>
#include <regex.h>

#include "engine/number_text.h"

namespace nocturne {

namespace {

// A compiled POSIX extended expression. Unlike std::regex its matcher does not recurse, so that no
// output of a program can exhaust the stack.
class Pattern {
public:
  // Throws UsageError.
  explicit Pattern(const std::string& text) {
    const int problem = ::regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NEWLINE);
    if (problem != 0) {
      char reason[200];
      ::regerror(problem, &compiled_, reason, sizeof reason);
      throw UsageError("the regular expression \"" + text + "\" is refused: " + reason);
    }
    if (compiled_.re_nsub == 0) {
      ::regfree(&compiled_);
      throw UsageError("the regular expression \"" + text +
                       "\" needs a group (...) around the number");
    }
  }
  ~Pattern() { ::regfree(&compiled_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // What the first group matched, wherever the pattern matches.
  std::vector<std::string> groups(const std::string& text) const {
    std::vector<std::string> found;
    // Line by line, the matcher being told where a line ends: it would look for the end of the text
    // on each call.
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      for (size_t at = begin; at < end;) {
        regmatch_t match[2];
        match[0] = {static_cast<regoff_t>(at), static_cast<regoff_t>(end)};
        const int flags = REG_STARTEND | (at > begin ? REG_NOTBOL : 0);
        if (::regexec(&compiled_, text.c_str(), 2, match, flags) != 0)
          break;
        if (match[1].rm_so >= 0)
          found.emplace_back(text, static_cast<size_t>(match[1].rm_so),
                             static_cast<size_t>(match[1].rm_eo - match[1].rm_so));
        at = std::max(static_cast<size_t>(match[0].rm_eo), at + 1);
      }
      begin = end + 1;
    }
    return found;
  }

private:
  regex_t compiled_{};
};

// A zero byte would end the text early for the matcher.
std::string withoutZeros(std::string text) {
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

std::vector<double> timesByPattern(const ProgramResult& result, const TimeSource& source) {
  const Pattern pattern(source.pattern);
  std::vector<double> times;
  for (const std::string& text : {result.output, result.errors})
    for (const std::string& group : pattern.groups(withoutZeros(text))) {
      const std::optional<double> value = parseNumber(group);
      if (!value)
        failTool("the program's output has \"" + group.substr(0, 100) + "\", which is no number");
      times.push_back(checkedTime(*value, source.secondsPerUnit));
    }
  return times;
}

std::vector<double> timesByPointer(const ProgramResult& result, const TimeSource& source) {
  const Json json = Json::parse(result.output, nullptr, false);
  if (json.is_discarded())
    failTool("the program's output is no JSON");
  const Json::json_pointer pointer(source.pointer);
  if (!json.contains(pointer))
    failTool("the program's output has nothing at " + source.pointer);
  const Json& found = json.at(pointer);
  std::vector<double> times;
  for (const Json& value : found.is_array() ? found : Json::array({found})) {
    if (!value.is_number())
      failTool("what the program's output has at " + source.pointer + " is no number");
    times.push_back(checkedTime(value.get<double>(), source.secondsPerUnit));
  }
  return times;
}

} // namespace

void failTool(const std::string& message) {
  throw ItemError({FailureKind::ToolFailed, message, "", 0, 0});
}

std::string filledIn(const std::string& text, const Placeholders& values) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const auto value = std::find_if(values.begin(), values.end(), [&](const auto& one) {
      return text.compare(at, one.first.size() + 2, '{' + one.first + '}') == 0;
    });
    if (value == values.end()) {
      out += text[at++];
      continue;
    }
    out += value->second;
    at += value->first.size() + 2;
  }
  return out;
}

std::vector<std::string> filledIn(std::vector<std::string> words, const Placeholders& values) {
  for (std::string& word : words)
    word = filledIn(word, values);
  return words;
}

ProgramLimits limitsOf(std::stop_token stop, double timeoutSeconds, double outputBytes) {
  ProgramLimits limits;
  limits.stop = std::move(stop);
  constexpr double kLongest = 1e9; // seconds; thirty years
  limits.timeout =
      std::chrono::milliseconds(static_cast<int64_t>(std::min(timeoutSeconds, kLongest) * 1000));
  limits.outputBytes = static_cast<size_t>(std::min(outputBytes, 1e9));
  return limits;
}

ProgramResult runStep(const std::vector<std::string>& words, const TemporaryFolder& scratch,
                      const ProgramLimits& limits) {
  ProgramResult result = runProgram(words, scratch.path(), limits);
  if (!result.succeeded())
    failTool(words.front() + ": " + result.problem());
  return result;
}

std::string missingPrograms(const std::vector<std::string>& programs) {
  for (const std::string& program : programs)
    if (findProgram(program).empty())
      return "there is no program " + program + " in $PATH";
  return {};
}

std::vector<double> timesIn(const ProgramResult& result, const TimeSource& source) {
  std::vector<double> times =
      source.pattern.empty() ? timesByPointer(result, source) : timesByPattern(result, source);
  if (times.empty())
    failTool("the program's output has no time");
  return times;
}

double checkedTime(double value, double secondsPerUnit) {
  const double seconds = value * secondsPerUnit;
  if (!std::isfinite(seconds) || seconds <= 0)
    failTool("the program gave no time above zero: " + shortest(value));
  return seconds;
}

double secondsPerUnit(const std::string& unit) {
  return unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : unit == "ns" ? 1e-9 : 1;
}

namespace option {

Json words(const Json& value) {
  const auto isWord = [](const Json& word) {
    return word.is_string() && word.get_ref<const std::string&>().find('\0') == std::string::npos;
  };
  if (!value.is_array() || !std::all_of(value.begin(), value.end(), isWord))
    throw UsageError("expected an array of texts");
  return value;
}

Json programWords(const Json& value) {
  if (!value.is_array() || value.empty())
    throw UsageError("expected an array of texts, the program first");
  return words(value);
}

Json jsonPointer(const Json& value) {
  const std::string text = option::text(value).get<std::string>();
  try {
    static_cast<void>(Json::json_pointer(text));
  } catch (const Json::exception&) {
    throw UsageError("expected a JSON pointer such as /benchmarks/0/real_time");
  }
  return text;
}

Json expression(const Json& value) {
  const std::string text = option::text(value).get<std::string>();
  if (!text.empty())
    static_cast<void>(Pattern(text));
  return text;
}

} // namespace option

} // namespace nocturne
