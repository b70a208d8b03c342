#include "tools/hespas_config.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "engine/error.h"
#include "engine/json_text.h"
#include "engine/options.h"

namespace nocturne::tools {

namespace {

using Note = std::pair<std::string_view, std::string_view>;

// Keys of the file that are read there and have nothing to decide here.
constexpr std::array<Note, 11> kUnusedKeys = {{
    {"split_strategy", "the module is estimated whole"},
    {"block_lim", "the module is estimated whole"},
    {"separator", "the module is estimated whole"},
    {"separator_policy", "the module is estimated whole"},
    {"separator_node_type", "the module is estimated whole"},
    {"merge", "the module is estimated whole"},
    {"clean", "the output folder is not emptied"},
    {"num_threads", "one module is estimated"},
    {"cache_dir", "a single estimate keeps no cache; nocturne sweep does"},
    {"disable_cache", "a single estimate keeps no cache; nocturne sweep does"},
    {"in_memory_only_cache", "a single estimate keeps no cache; nocturne sweep does"},
}};

// Options of hespas' estimators: under which name we have them, or why we need them not.
struct OptionChange {
  std::string_view theirs, ours, reason;
};
constexpr std::array<OptionChange, 3> kOptionChanges = {{
    {"tdp_W", "tdp_w", ""},
    {"warn_on_unknown_type", "", "a rate that is supposed is always told"},
    {"sample", "", "it has no effect there either"},
}};

void noteUnused(const Json& object, const char* pointer, HespasConfig& config) {
  for (const auto& [key, reason] : kUnusedKeys)
    if (object.contains(std::string(key)))
      config.notes.push_back(std::string(pointer) + '/' + std::string(key) +
                             " has no effect: " + std::string(reason));
}

void adaptOptions(Json& hardware, std::vector<std::string>& notes) {
  for (const OptionChange& change : kOptionChanges) {
    const std::string theirs(change.theirs);
    if (!hardware.contains(theirs))
      continue;
    Json value = std::move(hardware[theirs]);
    hardware.erase(theirs);
    if (!change.ours.empty())
      hardware[std::string(change.ours)] = std::move(value);
    else
      notes.push_back(theirs + " has no effect: " + std::string(change.reason));
  }
}

std::string textAt(const Json& object, const char* key, const std::string& pointer) {
  const auto place = object.find(key);
  if (place == object.end())
    return {};
  return atPointer(childPointer(pointer, key), [&] { return option::text(*place); })
      .get<std::string>();
}

void readEstimator(const Json& estimator, bool hespasNumbers, HespasConfig& config) {
  const std::string pointer = "/perf_estimator";
  if (!estimator.is_object())
    throw UsageError("expected an object, not " + excerpt(estimator), pointer);
  const std::string method = textAt(estimator, "method", pointer);
  if (method.empty())
    throw UsageError("there is no \"method\"", pointer);
  config.method = atPointer(childPointer(pointer, "method"),
                            [&] { return estimatorForMethod(method, hespasNumbers); });
  if (config.method != method)
    config.notes.push_back("method " + method + " is our estimator " + config.method +
                           (config.method == "roofline"
                                ? "; its rules differ, --hespas-numbers gives hespas' own"
                                : ""));
  noteUnused(estimator, "/perf_estimator", config);
  if (const auto hardware = estimator.find("hardware"); hardware != estimator.end()) {
    if (!hardware->is_object())
      throw UsageError("expected an object, not " + excerpt(*hardware),
                       childPointer(pointer, "hardware"));
    config.hardware = *hardware;
    adaptOptions(config.hardware, config.notes);
  }
}

} // namespace

std::string estimatorForMethod(std::string method, bool hespasNumbers) {
  std::transform(method.begin(), method.end(), method.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (method == "roofline")
    return hespasNumbers ? "roofline_hespas" : "roofline";
  for (const char* absent : {"cocossim", "onnxim", "zigzag_onnx"})
    if (method == absent)
      throw UsageError("there is no estimator for the simulator " + method +
                       "; \"command\" runs a program of your own, \"systolic\" models an array");
  return method;
}

HespasConfig readHespasConfig(const std::string& path, bool hespasNumbers) {
  const Json json = parseJsonText(readTextFile(path), path).value;
  HespasConfig config;
  try {
    if (!json.is_object())
      throw UsageError("expected an object, not " + excerpt(json), "");
    config.mlirFile = textAt(json, "mlir_file", "");
    config.outputDir = textAt(json, "output_dir", "");
    if (const auto estimator = json.find("perf_estimator"); estimator != json.end())
      readEstimator(*estimator, hespasNumbers, config);
    noteUnused(json, "", config);
  } catch (const UsageError& error) {
    throw error.inFile(path);
  }
  return config;
}

} // namespace nocturne::tools
