#include "compiler/execution/measurer.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "compiler/execution/measure_protocol.h"
#include "engine/error.h"
#include "engine/number_text.h"
#include "engine/subprocess.h"
#include "engine/temporary_folder.h"

namespace nocturne::compiler {

namespace {

constexpr const char* kSelf = "/proc/self/exe";

ItemError failure(FailureKind kind, const std::string& message) {
  return ItemError({kind, message, "", 0, 0});
}

std::string programToUse(const std::string& given) {
  if (!given.empty())
    return given;
  std::error_code error;
  if (std::filesystem::read_symlink(kSelf, error).filename() == "nocturne")
    return kSelf;
  if (const char* named = std::getenv("NOCTURNE_PROGRAM"); named != nullptr && *named != '\0')
    return named;
  std::string found = findProgram("nocturne");
  if (found.empty())
    throw failure(FailureKind::ToolFailed,
                  "measuring needs the program nocturne, which is not in $PATH; "
                  "NOCTURNE_PROGRAM may say where it is");
  return found;
}

// What the process was about when it said no more.
std::string lastStage(const std::string& output) {
  const size_t building = output.rfind(kBuilding), running = output.rfind(kRunning);
  if (running != std::string::npos)
    return "while its code ran";
  return building != std::string::npos ? "while it was compiled" : "before it was compiled";
}

Measurement measurementOf(const ProgramResult& result, const MeasureRequest& request) {
  using End = ProgramResult::End;
  switch (result.end) {
  case End::TimedOut:
    throw failure(FailureKind::TimedOut, "the measurement was not done within " +
                                             shortest(request.timeoutSeconds) + " s, stopped " +
                                             lastStage(result.output));
  case End::Stopped:
    throw failure(FailureKind::ToolFailed, "the measurement was stopped");
  case End::Signalled:
    throw failure(FailureKind::Crashed, "the process that measured the module died of " +
                                            signalName(result.code) + ' ' +
                                            lastStage(result.output));
  case End::TooMuchOutput:
    break;
  case End::Exited:
    if (result.code == 0)
      return parseAnswer(result.output);
    break;
  }
  throw failure(FailureKind::ToolFailed, "the process that measures failed: " + result.problem());
}

} // namespace

ModuleMeasurer::ModuleMeasurer(std::string program)
    : program_(std::move(program)), environment_(measuringEnvironment()) {}

void ModuleMeasurer::keepIn(std::string folder) {
  const std::scoped_lock lock(turn_);
  folder_ = std::move(folder);
}

Measurement ModuleMeasurer::measure(const MeasureRequest& request) {
  const std::scoped_lock lock(turn_);
  MeasureRequest complete = request;
  if (complete.folder.empty())
    complete.folder = folder_;
  // Made here, so that it goes even when the process that fills it is killed.
  std::optional<TemporaryFolder> scratch;
  if (complete.folder.empty())
    complete.folder = scratch.emplace().path();
  ProgramLimits limits;
  constexpr double kLongest = 1e9; // seconds; more is as good as no deadline
  limits.timeout = std::chrono::milliseconds(
      static_cast<int64_t>(std::ceil(1000 * std::min(request.timeoutSeconds, kLongest))));
  limits.stop = request.stop;
  return measurementOf(
      runProgram({programToUse(program_), kMeasureCommand}, "", limits, requestText(complete)),
      request);
}

} // namespace nocturne::compiler
