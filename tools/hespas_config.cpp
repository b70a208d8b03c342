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
constexpr std::array<Note, 9> kUnusedKeys = {{
    {"split_strategy", "the module is estimated whole"},
    {"block_lim", "the module is estimated whole"},
    {"separator", "the module is estimated whole"},
    {"separator_policy", "the module is estimated whole"},
    {"separator_node_type", "the module is estimated whole"},
    {"merge", "the module is estimated whole"},
    {"clean", "the output folder is not emptied"},
    {"num_threads", "one module is estimated"},
    {"in_memory_only_cache", "it is an option of /perf_estimator/hardware"},
}};

// Options of every estimator that stand beside /perf_estimator as well; those inside count first.
struct SharedOption {
  const char* key;
  Json (*check)(const Json&);
};
constexpr std::array<SharedOption, 2> kSharedOptions = {{
    {"cache_dir", option::text},
    {"disable_cache", option::boolean},
}};

// An option of hespas' estimators that has another name here, or no effect: then `reason` says why.
struct OptionChange {
  std::string_view method; // "" for all
  std::string_view theirs, ours, reason;
};
constexpr std::string_view kNotReadThere = "it is not read there either";
constexpr std::string_view kNoEnergy = "that estimator has no energy statistic";
constexpr std::array<OptionChange, 8> kOptionChanges = {{
    {"roofline_hespas", "tdp_W", "", kNoEnergy},
    {"roofline_hespas", "hbm_power_ratio", "", kNoEnergy},
    {"", "tdp_W", "tdp_w", ""},
    {"", "warn_on_unknown_type", "", "a rate that is supposed is always told"},
    {"", "type", "", kNotReadThere},
    {"xla", "translate", "", kNotReadThere},
    {"xla", "sample", "", kNotReadThere},
    {"iree", "sample", "", kNotReadThere},
}};

// What iree's option "compile" holds.
struct CompileEntry {
  std::string_view theirs, ours;
  bool words;
};
constexpr std::array<CompileEntry, 4> kCompileEntries = {{
    {"target-backends", "target_backend", false},
    {"device", "device", false},
    {"extra-args", "compile_arguments", true},
    {"extra-runtime-args", "run_arguments", true},
}};

// Methods of hespas that we have no estimator for, and why.
constexpr std::array<Note, 2> kAbsentMethods = {{
    {"onnxim", "it is given each operation as an ONNX model, which Nocturne does not write"},
    {"zigzag_onnx", "it is a Python library that is given each operation as an ONNX model, which "
                    "Nocturne does not write"},
}};

void noteUnused(const Json& object, const char* pointer, HespasConfig& config) {
  for (const auto& [key, reason] : kUnusedKeys)
    if (object.contains(std::string(key)))
      config.notes.push_back(std::string(pointer) + '/' + std::string(key) +
                             " has no effect: " + std::string(reason));
}

// Files of hespas have keys for other programs of it as well: a word for each that means nothing
// here.
void noteUnknown(const Json& object, const char* pointer, std::vector<std::string> known,
                 HespasConfig& config) {
  for (const auto& [key, reason] : kUnusedKeys)
    known.emplace_back(key);
  for (const SharedOption& shared : kSharedOptions)
    known.emplace_back(shared.key);
  for (const auto& [key, value] : object.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      config.notes.push_back(std::string(pointer) + '/' + key + " is not known and has no effect" +
                             didYouMean(key, known));
}

// One text or an array of texts, as an array.
Json wordsFrom(const Json& value) {
  const Json all = value.is_array() ? value : Json::array({value});
  for (const Json& word : all)
    if (!word.is_string())
      throw UsageError("expected an array of texts, not " + excerpt(value));
  return all;
}

// Turns the option "compile" of iree into the options that we have instead.
void adaptCompile(Json& hardware, const std::string& pointer, std::vector<std::string>& notes) {
  const auto place = hardware.find("compile");
  if (place == hardware.end())
    return;
  const Json compile = *place;
  const std::string here = childPointer(pointer, "compile");
  if (!compile.is_object())
    throw UsageError("expected an object, not " + excerpt(compile), here);
  hardware.erase("compile");
  for (const auto& [key, value] : compile.items()) {
    const auto* entry =
        std::find_if(kCompileEntries.begin(), kCompileEntries.end(),
                     [&name = key](const CompileEntry& one) { return one.theirs == name; });
    if (entry == kCompileEntries.end())
      notes.push_back(childPointer(here, key) + " has no effect: " + std::string(kNotReadThere));
    else
      hardware[std::string(entry->ours)] = atPointer(childPointer(here, key), [&, &one = value] {
        return entry->words ? wordsFrom(one) : option::text(one);
      });
  }
}

void adaptOptions(Json& hardware, const std::string& method, const std::string& pointer,
                  std::vector<std::string>& notes) {
  for (const OptionChange& change : kOptionChanges) {
    const std::string theirs(change.theirs);
    if (!hardware.contains(theirs) || !(change.method.empty() || change.method == method))
      continue;
    Json value = std::move(hardware[theirs]);
    hardware.erase(theirs);
    if (!change.ours.empty())
      hardware[std::string(change.ours)] = std::move(value);
    else
      notes.push_back(childPointer(pointer, theirs) +
                      " has no effect: " + std::string(change.reason));
  }
  if (method == "iree")
    adaptCompile(hardware, pointer, notes);
  // Options of the roofline that another estimator extends.
  const auto nested = hardware.find("roofline");
  if (nested != hardware.end() && nested->is_object())
    adaptOptions(*nested, "roofline", childPointer(pointer, "roofline"), notes);
}

std::string textAt(const Json& object, const char* key, const std::string& pointer) {
  const auto place = object.find(key);
  if (place == object.end())
    return {};
  return atPointer(childPointer(pointer, key), [&] { return option::text(*place); })
      .get<std::string>();
}

// The estimator that the file asks for; `method` is what it says.
std::string estimatorOf(const std::string& method, bool hespasNumbers, HespasConfig& config) {
  const std::string pointer = "/perf_estimator";
  if (method.empty())
    throw UsageError("there is no \"method\"", pointer);
  const std::string ours = atPointer(childPointer(pointer, "method"),
                                     [&] { return estimatorForMethod(method, hespasNumbers); });
  if (ours != method || ours == "roofline")
    config.notes.push_back(
        "method " + method + " is our estimator " + ours +
        (ours == "roofline" ? "; its rules differ, --hespas-numbers gives hespas' own" : ""));
  return ours;
}

void readEstimator(const Json& estimator, const std::string& asked, bool hespasNumbers,
                   HespasConfig& config) {
  const std::string pointer = "/perf_estimator";
  if (!estimator.is_object())
    throw UsageError("expected an object, not " + excerpt(estimator), pointer);
  const std::string method = textAt(estimator, "method", pointer);
  config.method = asked.empty() ? estimatorOf(method, hespasNumbers, config) : asked;
  noteUnused(estimator, "/perf_estimator", config);
  noteUnknown(estimator, "/perf_estimator", {"method", "hardware"}, config);
  for (const SharedOption& shared : kSharedOptions)
    if (estimator.contains(shared.key))
      config.notes.push_back(childPointer(pointer, shared.key) +
                             " has no effect: it belongs beside /perf_estimator, or into its "
                             "hardware");
  if (const auto hardware = estimator.find("hardware"); hardware != estimator.end()) {
    if (!hardware->is_object())
      throw UsageError("expected an object, not " + excerpt(*hardware),
                       childPointer(pointer, "hardware"));
    config.hardware = *hardware;
    adaptOptions(config.hardware, config.method, childPointer(pointer, "hardware"), config.notes);
  }
}

} // namespace

std::string estimatorForMethod(std::string method, bool hespasNumbers) {
  std::transform(method.begin(), method.end(), method.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (method == "roofline")
    return hespasNumbers ? "roofline_hespas" : "roofline";
  for (const auto& [absent, reason] : kAbsentMethods)
    if (method == absent)
      throw UsageError("there is no estimator for the simulator " + method + ": " +
                       std::string(reason) +
                       "; \"simulator\" runs a program of yours, \"systolic\" models an array");
  return method;
}

HespasConfig readHespasConfig(const std::string& path, const std::string& asked,
                              bool hespasNumbers) {
  const Json json = parseJsonText(readTextFile(path), path).value;
  HespasConfig config;
  config.method = asked;
  try {
    if (!json.is_object())
      throw UsageError("expected an object, not " + excerpt(json), "");
    config.mlirFile = textAt(json, "mlir_file", "");
    config.outputDir = textAt(json, "output_dir", "");
    if (const auto estimator = json.find("perf_estimator"); estimator != json.end())
      readEstimator(*estimator, asked, hespasNumbers, config);
    for (const SharedOption& shared : kSharedOptions)
      if (const auto value = json.find(shared.key);
          value != json.end() && !config.hardware.contains(shared.key))
        config.hardware[shared.key] =
            atPointer(childPointer("", shared.key), [&] { return shared.check(*value); });
    noteUnused(json, "", config);
    noteUnknown(json, "", {"mlir_file", "output_dir", "perf_estimator"}, config);
  } catch (const UsageError& error) {
    throw error.inFile(path);
  }
  return config;
}

} // namespace nocturne::tools
