#include "compiler/tuning/worker.h"

#include <csignal>
#include <filesystem>

#include <unistd.h>

#include "compiler/drivers/manifest.h"
#include "engine/failure_json.h"
#include "engine/file_bytes.h"
#include "engine/json.h"
#include "engine/subprocess.h"
#include "storage/atomic_file.h"

namespace nocturne::compiler {

namespace {

// Requests.

Json toJson(const Trials& trials) {
  Json json = {{"entry", trials.entry},
               {"results", trials.results},
               {"seed", trials.seed},
               {"warm_up", trials.timing.warmUpSeconds},
               {"sample", trials.timing.sampleSeconds},
               {"repetitions", trials.timing.repetitions},
               {"most", trials.timing.mostSeconds}};
  if (trials.tolerance)
    json["tolerance"] = *trials.tolerance;
  return json;
}

Trials trialsFrom(const Json& json) {
  Trials trials;
  json.at("entry").get_to(trials.entry);
  json.at("results").get_to(trials.results);
  json.at("seed").get_to(trials.seed);
  json.at("warm_up").get_to(trials.timing.warmUpSeconds);
  json.at("sample").get_to(trials.timing.sampleSeconds);
  json.at("repetitions").get_to(trials.timing.repetitions);
  json.at("most").get_to(trials.timing.mostSeconds);
  if (json.contains("tolerance"))
    trials.tolerance = json.at("tolerance").get<double>();
  return trials;
}

Json toJson(const BuildRequest& request) {
  return {{"action", "build"},        {"name", request.module.name}, {"text", request.module.text},
          {"target", request.target}, {"folder", request.outputDir}, {"flags", request.flags},
          {"force", request.force}};
}

Json toJson(const ReferenceRequest& request) {
  return {
      {"action", "reference"}, {"library", request.library}, {"trials", toJson(request.trials)}};
}

Json toJson(const MeasureRequest& request) {
  return {
      {"action", "measure"}, {"libraries", request.libraries}, {"trials", toJson(request.trials)}};
}

WorkerRequest requestFrom(const Json& json) {
  const auto action = json.at("action").get<std::string>();
  if (action == "build")
    return BuildRequest{{json.at("name").get<std::string>(), json.at("text").get<std::string>()},
                        json.at("target").get<std::string>(),
                        json.at("folder").get<std::string>(),
                        json.at("flags").get<std::vector<std::string>>(),
                        json.at("force").get<bool>()};
  if (action == "reference")
    return ReferenceRequest{json.at("library").get<std::string>(), trialsFrom(json.at("trials"))};
  return MeasureRequest{json.at("libraries").get<std::vector<std::string>>(),
                        trialsFrom(json.at("trials"))};
}

// Answers.

Json toJson(const Measured& measured) {
  const Timing& timing = measured.timing;
  return {{"state", int(measured.state)},   {"reason", measured.reason},
          {"median", timing.median},        {"lower", timing.lower},
          {"upper", timing.upper},          {"samples", timing.samples},
          {"calls", timing.callsPerSample}, {"interrupted", timing.interrupted}};
}

Measured measuredFrom(const Json& json) {
  Measured measured;
  measured.state = static_cast<Measured::State>(json.at("state").get<int>());
  json.at("reason").get_to(measured.reason);
  json.at("median").get_to(measured.timing.median);
  json.at("lower").get_to(measured.timing.lower);
  json.at("upper").get_to(measured.timing.upper);
  json.at("samples").get_to(measured.timing.samples);
  json.at("calls").get_to(measured.timing.callsPerSample);
  json.at("interrupted").get_to(measured.timing.interrupted);
  return measured;
}

Json toJson(const WorkerAnswer& answer) {
  Json json = {{"folder", answer.folder}, {"digest", answer.digest}, {"measured", Json::array()}};
  for (const Measured& measured : answer.measured)
    json["measured"].push_back(toJson(measured));
  if (answer.failure)
    json["failure"] = *answer.failure;
  return json;
}

WorkerAnswer answerFrom(const Json& json) {
  WorkerAnswer answer;
  json.at("folder").get_to(answer.folder);
  json.at("digest").get_to(answer.digest);
  for (const Json& measured : json.at("measured"))
    answer.measured.push_back(measuredFrom(measured));
  if (json.contains("failure"))
    answer.failure = json.at("failure").get<Failure>();
  return answer;
}

// The work.

WorkerAnswer perform(BuildDriver& driver, const BuildRequest& request) {
  BuildOptions options;
  options.outputDir = request.outputDir;
  options.target = request.target;
  options.flags = request.flags;
  options.force = request.force;
  BuildReport report = driver.tryBuild(request.module, options);
  WorkerAnswer answer;
  answer.failure = std::move(report.failure);
  if (report.succeeded()) {
    answer.folder = report.outcome.folder;
    answer.digest = report.outcome.manifest->libraryDigest.hex();
  }
  return answer;
}

WorkerAnswer perform(BuildDriver&, const ReferenceRequest& request) {
  writeResults(request.library, request.trials);
  return {};
}

WorkerAnswer perform(BuildDriver&, const MeasureRequest& request) {
  WorkerAnswer answer;
  answer.measured = measure(request.libraries, request.trials);
  return answer;
}

WorkerAnswer performSafely(BuildDriver& driver, const WorkerRequest& request) {
  WorkerAnswer answer;
  try {
    return std::visit([&](const auto& wanted) { return perform(driver, wanted); }, request);
  } catch (const ItemError& error) {
    answer.failure = error.failure();
  } catch (const UsageError& error) {
    answer.failure = {FailureKind::BadConfig, error.what(), "", 0, 0};
  } catch (const std::exception& error) {
    answer.failure = {FailureKind::Internal, error.what(), "", 0, 0};
  }
  return answer;
}

// A file that is gone at the end of the scope.
class RequestFile {
public:
  RequestFile(const std::string& folder, unsigned number, const WorkerRequest& request) {
    path_ = (folder + '/').append(kRequestStart) + std::to_string(::getpid()) + '.' +
            std::to_string(number);
    const std::vector<uint8_t> bytes =
        Json::to_cbor(std::visit([](const auto& wanted) { return toJson(wanted); }, request));
    writeFileAtomically(path_, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  ~RequestFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  RequestFile(const RequestFile&) = delete;
  RequestFile& operator=(const RequestFile&) = delete;
  const std::string& path() const { return path_; }

private:
  std::string path_;
};

WorkerAnswer failed(FailureKind kind, const std::string& message) {
  WorkerAnswer answer;
  answer.failure = {kind, message, "", 0, 0};
  return answer;
}

} // namespace

std::string answerRequest(BuildDriver& driver, const std::string& requestFile) {
  const std::string bytes = readFile(requestFile);
  std::optional<WorkerRequest> request;
  try {
    request = requestFrom(Json::from_cbor(bytes));
  } catch (const Json::exception& error) {
    throw StorageError(StorageErrorKind::Corrupt, requestFile + ": is no request: " + error.what());
  }
  return toJson(performSafely(driver, *request))
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

WorkerAnswer CandidateWorker::ask(const WorkerRequest& request, const std::string& folder,
                                  std::chrono::milliseconds timeout,
                                  const std::stop_token& stop) const {
  if (stop.stop_requested())
    throw BuildCancelled("the work on a candidate was stopped");
  if (command_.empty())
    return performSafely(driver_, request);
  const RequestFile file(folder, ++requests_, request);
  std::vector<std::string> command = command_;
  command.push_back(file.path());
  ProgramLimits limits;
  limits.timeout = timeout;
  limits.stop = stop;
  const ProgramResult result = runProgram(command, folder, limits);
  if (result.end == ProgramResult::End::Stopped)
    throw BuildCancelled("the work on a candidate was stopped");
  if (result.end == ProgramResult::End::TimedOut)
    return failed(FailureKind::TimedOut, result.problem());
  // Not its own doing: memory ran out, or somebody did not want it.
  if (result.end == ProgramResult::End::Signalled && result.code == SIGKILL)
    return failed(FailureKind::ToolFailed, result.problem());
  if (!result.succeeded())
    return failed(FailureKind::Crashed, result.problem());
  try {
    return answerFrom(Json::parse(result.output));
  } catch (const std::exception&) {
    return failed(FailureKind::Crashed, "the process ended without an answer");
  }
}

} // namespace nocturne::compiler
