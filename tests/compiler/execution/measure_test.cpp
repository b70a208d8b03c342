// Measuring in this process, and what goes between two processes that measure.
#include "compiler/execution/measure.h"

#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "compiler/execution/measure_protocol.h"
#include "compiler/execution/measurer.h"
#include "engine/error.h"
#include "tests/support/scratch_dir.h"

namespace nocturne::compiler {

namespace {

const std::string kSum =
    "func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {\n"
    "  %0 = stablehlo.add %a, %b : tensor<8xf32>\n"
    "  return %0 : tensor<8xf32>\n}";

// What the tests build, until they are done.
const std::string& buildFolder() {
  static const test::ScratchDir folder;
  return folder.path();
}

MeasureRequest quick(const std::string& text) {
  MeasureRequest request{.text = text, .path = "test.mlir"};
  request.folder = buildFolder();
  request.repetitions = 3;
  request.minSeconds = 0;
  return request;
}

// Everything that the process that measures would say.
std::vector<std::string> linesOf(const std::string& request) {
  std::vector<std::string> lines;
  answerMeasureRequest(request, [&](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

Failure failureOf(const std::string& answer) {
  try {
    parseAnswer(answer);
  } catch (const ItemError& error) {
    return error.failure();
  }
  return {};
}

Failure failureOfModule(const MeasureRequest& request) {
  return failureOf(linesOf(requestText(request)).back());
}

} // namespace

TEST_CASE("there are as many samples as asked for, and longer calls are their own samples") {
  MeasureRequest request = quick("");
  request.warmup = 2;
  int calls = 0;
  uint64_t callsPerSample = 0;
  const auto work = [&calls] {
    ++calls;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  const std::vector<double> samples = takeSamples(work, request, callsPerSample);
  CHECK(samples.size() == 3);
  CHECK(callsPerSample == 1);
  CHECK(calls == 2 + 1 + 3);
  for (double sample : samples)
    CHECK(sample >= 1e-3);
}

TEST_CASE("short calls are measured many at a time, for as long as asked") {
  MeasureRequest request = quick("");
  request.minSeconds = 0.02;
  uint64_t callsPerSample = 0;
  volatile int calls = 0;
  const std::vector<double> samples =
      takeSamples([&calls] { calls = calls + 1; }, request, callsPerSample);
  CHECK(callsPerSample > 10);
  CHECK(samples.size() > 3);
}

TEST_CASE("there is a sample, however few are asked for") {
  MeasureRequest request = quick("");
  uint64_t callsPerSample = 0;
  for (const int64_t repetitions : {0, -1}) {
    request.repetitions = repetitions;
    CHECK(takeSamples([] {}, request, callsPerSample).size() == 1);
  }
}

TEST_CASE("a module is compiled, run and timed") {
  std::vector<std::string> stages;
  const Measurement measurement =
      measureModule(quick(kSum), [&](std::string_view stage) { stages.emplace_back(stage); });
  CHECK(stages == std::vector<std::string>{"building", "running"});
  CHECK(measurement.samples == 3);
  CHECK(measurement.least > 0);
  CHECK(measurement.least <= measurement.median);
  CHECK(measurement.median < 1);
  CHECK(measurement.processor == processorName());
  CHECK_FALSE(measurement.library.isZero());
}

TEST_CASE("requests and answers survive the way between processes") {
  MeasureRequest request = quick("text\nof \xff bytes");
  request.entry = "f";
  request.seed = 18446744073709551615u;
  const MeasureRequest received = parseRequest(requestText(request));
  CHECK(received.text == request.text);
  CHECK(received.path == "test.mlir");
  CHECK(received.entry == "f");
  CHECK(received.repetitions == 3);
  CHECK(received.seed == request.seed);
  Measurement measurement;
  setTimes(measurement, {0.1, 0.3});
  measurement.processor = "one";
  measurement.library = hashBytes("library");
  const Measurement answer = parseAnswer("building\nrunning\n" + answerText(measurement) + '\n');
  CHECK(answer.median == measurement.median);
  CHECK(answer.spread == measurement.spread);
  CHECK(answer.samples == 2);
  CHECK(answer.processor == "one");
  CHECK(answer.library == measurement.library);
  const Failure failure{FailureKind::UnsupportedOp, "why", "file", 3, 4};
  CHECK(failureOf(answerText(failure)) == failure);
  CHECK((failureOf("building\n").kind == FailureKind::ToolFailed));
  CHECK((failureOf("").kind == FailureKind::ToolFailed));
}

TEST_CASE("a request of another build of the program is refused") {
  std::string request = requestText(quick(kSum));
  CHECK(failureOf(linesOf(request).back()).message.empty());
  request.replace(request.find("LLVM"), 4, "MLVM");
  const Failure failure = failureOf(linesOf(request).back());
  CHECK((failure.kind == FailureKind::ToolFailed));
  CHECK(failure.message.find("not of the same build") != std::string::npos);
  CHECK((failureOf(linesOf("nonsense").back()).kind == FailureKind::ToolFailed));
}

TEST_CASE("what is wrong with a module has its kind and place") {
  Failure failure = failureOfModule(quick("func.func @main("));
  CHECK((failure.kind == FailureKind::Unreadable));
  failure = failureOfModule(quick("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
                                  "  %0 = \"other.thing\"(%a) : (tensor<2xf32>) -> tensor<2xf32>\n"
                                  "  return %0 : tensor<2xf32>\n}"));
  CHECK((failure.kind == FailureKind::UnsupportedOp));
  CHECK(failure.file == "test.mlir");
  CHECK(failure.line == 2);
  MeasureRequest request = quick(kSum);
  request.arch = "z80";
  CHECK((failureOfModule(request).kind == FailureKind::BadConfig));
  request = quick(kSum);
  request.entry = "mian";
  failure = failureOfModule(request);
  CHECK((failure.kind == FailureKind::BadConfig));
  CHECK(failure.message.find("main") != std::string::npos);
}

TEST_CASE("a program that is not there, and one that is no nocturne, fail the measurement") {
  const auto failureWith = [](const std::string& program) {
    try {
      ModuleMeasurer(program).measure(quick(kSum));
    } catch (const ItemError& error) {
      return error.failure();
    }
    return Failure{};
  };
  CHECK((failureWith("/nowhere/nocturne").kind == FailureKind::ToolFailed));
  CHECK((failureWith("true").kind == FailureKind::ToolFailed));
  CHECK(failureWith("false").message.find("exit status 1") != std::string::npos);
}

} // namespace nocturne::compiler
