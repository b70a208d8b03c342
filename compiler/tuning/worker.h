// Building and running candidates where a crash does no harm: in a process of their own.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/drivers/driver.h"
#include "compiler/tuning/measurement.h"

namespace nocturne::compiler {

// What is asked of a worker. Requests travel as files, so that a text of any bytes can be one.
struct BuildRequest {
  ModuleSource module;
  std::string target, outputDir;
  std::vector<std::string> flags;
  bool force = false;
};
struct ReferenceRequest {
  std::string library;
  Trials trials;
};
struct MeasureRequest {
  std::vector<std::string> libraries;
  Trials trials;
};
// Names of their files begin so.
inline constexpr std::string_view kRequestStart = "request.";
using WorkerRequest = std::variant<BuildRequest, ReferenceRequest, MeasureRequest>;

// What it answers: a build, nothing but success, or what became of each library.
struct WorkerAnswer {
  std::optional<Failure> failure;
  std::string folder, digest; // of a build
  std::vector<Measured> measured;
};

// The worker's side: does what the file asks and returns its answer as one line of JSON. Throws
// nothing for what is wrong with a candidate; throws StorageError for a file that is no request.
std::string answerRequest(BuildDriver& driver, const std::string& requestFile);

// The asker's side. Thread-safe.
class CandidateWorker {
public:
  // `command` is a program that gets the name of a request file as its last argument and prints
  // what answerRequest() returns. Without a command all is done in this process, which a crash
  // ends. Files go into `folder`.
  CandidateWorker(BuildDriver& driver, std::vector<std::string> command)
      : driver_(driver), command_(std::move(command)) {}

  // Kind Crashed for a process that died, TimedOut for one that took too long. Throws
  // BuildCancelled when a stop is asked for, which a process does not outlive.
  WorkerAnswer ask(const WorkerRequest& request, const std::string& folder,
                   std::chrono::milliseconds timeout, const std::stop_token& stop) const;

private:
  BuildDriver& driver_;
  std::vector<std::string> command_;
  mutable std::atomic<unsigned> requests_ = 0; // names of request files
};

} // namespace nocturne::compiler
