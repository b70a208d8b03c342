#include "compiler/execution/measure_protocol.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/Host.h"

#include "compiler/codegen/compile_options.h"
#include "compiler/lowering/lowering.h"
#include "engine/json.h"

namespace nocturne::compiler {

namespace {

// Raised when the same code on the same processor may be given another time.
constexpr unsigned kMeasuringVersion = 1;

[[noreturn]] void failTool(const std::string& message) {
  throw ItemError({FailureKind::ToolFailed, message, "", 0, 0});
}

std::string lineOf(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Few dozen words: their digest tells them apart as well.
std::string featureDigest() {
  std::vector<std::string> features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    features.push_back((feature.second ? '+' : '-') + feature.first().str());
  std::sort(features.begin(), features.end());
  Hasher hasher;
  for (const std::string& feature : features)
    hasher.field(feature);
  return hasher.finish().hex().substr(0, 16);
}

Failure failureFrom(const Json& json) {
  Failure failure;
  failure.kind = failureKindFromString(json.at("kind").get<std::string>());
  failure.message = json.at("message");
  failure.file = json.at("file");
  failure.line = json.at("line");
  failure.column = json.at("column");
  return failure;
}

Measurement measurementFrom(const Json& json) {
  Measurement measurement;
  measurement.median = json.at("median_s");
  measurement.least = json.at("min_s");
  measurement.mean = json.at("mean_s");
  measurement.spread = json.at("spread_s");
  measurement.samples = json.at("samples");
  measurement.callsPerSample = json.at("calls_per_sample");
  measurement.processor = json.at("processor");
  measurement.buildSeconds = json.at("build_s");
  measurement.built = json.at("built");
  measurement.library = Digest::fromHex(json.at("library").get<std::string>());
  return measurement;
}

} // namespace

std::string processorName() {
  std::ifstream facts("/proc/cpuinfo");
  for (std::string line; std::getline(facts, line) && !line.empty();)
    if (line.starts_with("model name"))
      if (const size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return llvm::sys::getHostCPUName().str();
}

std::string measuringEnvironment() {
  return processorName() + " (" + llvm::sys::getHostCPUName().str() + "), features " +
         featureDigest() + ", LLVM " LLVM_VERSION_STRING ", code generation " +
         std::to_string(kCodegenVersion) + ", lowering " + std::to_string(kLoweringVersion) +
         ", measuring " + std::to_string(kMeasuringVersion);
}

std::string requestText(const MeasureRequest& request) {
  const Json head = {{"environment", measuringEnvironment()},
                     {"path", request.path},
                     {"entry", request.entry},
                     {"warmup", request.warmup},
                     {"repetitions", request.repetitions},
                     {"min_time_s", request.minSeconds},
                     {"seed", request.seed},
                     {"arch", request.arch},
                     {"folder", request.folder},
                     {"timeout_s", request.timeoutSeconds}};
  return lineOf(head) + '\n' + request.text;
}

MeasureRequest parseRequest(std::string_view text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos)
    failTool("this is no request for a measurement");
  MeasureRequest request;
  std::string environment;
  try {
    const Json head = Json::parse(text.substr(0, end));
    environment = head.at("environment");
    request.path = head.at("path");
    request.entry = head.at("entry");
    request.warmup = head.at("warmup");
    request.repetitions = head.at("repetitions");
    request.minSeconds = head.at("min_time_s");
    request.seed = head.at("seed");
    request.arch = head.at("arch");
    request.folder = head.at("folder");
    request.timeoutSeconds = head.at("timeout_s");
  } catch (const Json::exception& error) {
    failTool(std::string("this is no request for a measurement: ") + error.what());
  }
  if (environment != measuringEnvironment())
    failTool("the program that measures is not of the same build: it has \"" +
             measuringEnvironment() + "\" instead of \"" + environment + '"');
  request.text = text.substr(end + 1);
  return request;
}

std::string answerText(const Measurement& measurement) {
  return lineOf({{"measurement",
                  {{"median_s", measurement.median},
                   {"min_s", measurement.least},
                   {"mean_s", measurement.mean},
                   {"spread_s", measurement.spread},
                   {"samples", measurement.samples},
                   {"calls_per_sample", measurement.callsPerSample},
                   {"processor", measurement.processor},
                   {"build_s", measurement.buildSeconds},
                   {"built", measurement.built},
                   {"library", measurement.library.hex()}}}});
}

std::string answerText(const Failure& failure) {
  return lineOf({{"failure",
                  {{"kind", std::string(toString(failure.kind))},
                   {"message", failure.message},
                   {"file", failure.file},
                   {"line", failure.line},
                   {"column", failure.column}}}});
}

Measurement parseAnswer(std::string_view output) {
  while (output.ends_with('\n'))
    output.remove_suffix(1);
  const size_t start = output.rfind('\n');
  Failure failure{FailureKind::ToolFailed, "the process that measures gave no answer", "", 0, 0};
  try {
    const Json json = Json::parse(output.substr(start == std::string_view::npos ? 0 : start + 1));
    if (!json.contains("failure"))
      return measurementFrom(json.at("measurement"));
    failure = failureFrom(json["failure"]);
  } catch (const std::exception&) {
    // It did not get so far as to give one.
  }
  throw ItemError(failure);
}

} // namespace nocturne::compiler
