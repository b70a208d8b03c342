// Requests to processes, which shells stand in for.
#include "tools/line_workers.h"

#include <csignal>

#include <doctest/doctest.h>

using namespace nocturne::tools;

namespace {

using End = LineAnswer::End;
using std::chrono::milliseconds;

// The answers of shells that run `script`, which has a request as its standard input.
std::vector<LineAnswer> answersOf(const std::string& script, size_t requests,
                                  LineWorkOptions options = {}) {
  options.program = "/bin/sh";
  std::vector<LineAnswer> answers(requests);
  answerLines({"-c", script}, std::vector<std::string>(requests, "request"), options,
              [&](size_t index, const LineAnswer& answer) {
                answers[index] = answer;
                return true;
              });
  return answers;
}

} // namespace

TEST_CASE("a line is an answer") {
  LineWorkOptions options;
  options.requestsPerProcess = 1;
  for (const LineAnswer& answer : answersOf("echo done; cat", 3, options)) {
    CHECK((answer.end == End::Answered));
    CHECK(answer.line == "done");
  }
}

TEST_CASE("who dies before its answer is replaced, and it is known of what") {
  for (const LineAnswer& answer : answersOf("echo -n half; kill -SEGV $$", 2)) {
    CHECK((answer.end == End::Died));
    CHECK(answer.signal == SIGSEGV);
  }
  CHECK(answersOf("exit 3", 1).front().code == 3);
}

TEST_CASE("who is silent is ended at the deadline, and so is who talks without an end") {
  LineWorkOptions options;
  options.timeout = milliseconds(50);
  for (const char* script : {"cat", "while printf x; do :; done"})
    for (const LineAnswer& answer : answersOf(script, 2, options))
      CHECK((answer.end == End::TimedOut));
}
