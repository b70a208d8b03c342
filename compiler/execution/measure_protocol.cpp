#include "compiler/execution/measure_protocol.h"

#include <algorithm>
#include <fstream>
#include <utility>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/Host.h"

#include "compiler/codegen/compile_options.h"
#include "compiler/lowering/lowering.h"
#include "engine/failure_json.h"
#include "engine/json.h"

namespace nocturne::compiler {

namespace {

// Raised when the same code on the same processor may be given another time.
constexpr unsigned kMeasuringVersion = 2;

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

// The members of a request's head and of an answer, each by its name: for writing and for reading.
template <typename Request, typename Visit>
void visitMembers(Request& request, Visit visit) {
  visit("path", request.path);
  visit("entry", request.entry);
  visit("warmup", request.warmup);
  visit("repetitions", request.repetitions);
  visit("min_time_s", request.minSeconds);
  visit("seed", request.seed);
  visit("arch", request.arch);
  visit("folder", request.folder);
  visit("timeout_s", request.timeoutSeconds);
}

template <typename Measured, typename Visit>
void visitTimes(Measured& measurement, Visit visit) {
  visit("median_s", measurement.median);
  visit("min_s", measurement.least);
  visit("mean_s", measurement.mean);
  visit("spread_s", measurement.spread);
  visit("samples", measurement.samples);
  visit("calls_per_sample", measurement.callsPerSample);
  visit("processor", measurement.processor);
  visit("build_s", measurement.buildSeconds);
  visit("built", measurement.built);
}

auto writerTo(Json& json) {
  return [&json](const char* name, const auto& value) { json[name] = value; };
}

auto readerOf(const Json& json) {
  return [&json](const char* name, auto& value) { json.at(name).get_to(value); };
}

Measurement measurementFrom(const Json& json) {
  Measurement measurement;
  visitTimes(measurement, readerOf(json));
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
  Json head = {{"environment", measuringEnvironment()}};
  visitMembers(request, writerTo(head));
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
    head.at("environment").get_to(environment);
    visitMembers(request, readerOf(head));
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
  Json times = {{"library", measurement.library.hex()}};
  visitTimes(measurement, writerTo(times));
  return lineOf({{"measurement", std::move(times)}});
}

std::string answerText(const Failure& failure) {
  return lineOf({{"failure", failure}});
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
    failure = json["failure"].get<Failure>();
  } catch (const std::exception&) {
    // It did not get so far as to give one.
  }
  throw ItemError(failure);
}

} // namespace nocturne::compiler
