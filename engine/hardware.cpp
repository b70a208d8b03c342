#include "engine/hardware.h"

#include <algorithm>
#include <array>

#include "engine/json_text.h"
#include "engine/machine_schema.h"
#include "engine/tensor_type.h"

namespace nocturne {

namespace {

using Validator = Json (*)(const Json&);

Json rateTable(const Json& value) {
  Json table = option::positiveTable(value);
  for (const auto& [type, rate] : table.items())
    checkMachinePath(std::string(kRateTable) + '.' + type, false);
  return table;
}

struct KeyRow {
  std::string_view name;
  Validator validate;
  bool number; // something that estimators may take
};

// Every key of a machine, in the order that help shows.
constexpr std::array<KeyRow, 16> kKeys = {{
    {"name", option::text, false},
    {"vendor", option::text, false},
    {"year", option::positiveInteger, false},
    {"peak_flops", option::positive, true},
    {"peak_flops_means", option::text, false},
    {kRateTable, rateTable, true},
    {"memory_bandwidth", option::positive, true},
    {"memory_capacity", option::positive, true},
    {"interconnect_bandwidth", option::positive, true},
    {"interconnect_note", option::text, false},
    {"tdp_w", option::positive, true},
    {"num_npus", option::positiveInteger, true},
    {"source", option::text, false},
    {"date", option::text, false},
    {"confidence", option::text, false},
    {"notes", option::text, false},
}};

const KeyRow* findKey(std::string_view name) {
  const auto* row =
      std::find_if(kKeys.begin(), kKeys.end(), [&](const KeyRow& key) { return key.name == name; });
  return row == kKeys.end() ? nullptr : row;
}

bool isScale(std::string_view path) {
  return path == kComputeScale || path == kBandwidthScale;
}

std::string_view headOf(std::string_view path) {
  return path.substr(0, path.find('.'));
}

std::vector<std::string> pathsToSuggest(bool axis) {
  std::vector<std::string> paths = {std::string(kComputeScale), std::string(kBandwidthScale)};
  for (const KeyRow& key : kKeys)
    if (key.name != "name" && (key.number || !axis) && (key.name != kRateTable || !axis))
      paths.emplace_back(key.name);
  return paths;
}

void checkRateName(std::string_view name) {
  if (isRateName(name))
    return;
  std::vector<std::string> kinds;
  for (int i = 0; i <= static_cast<int>(ElementKind::Index); ++i)
    kinds.emplace_back(nocturne::name(static_cast<ElementKind>(i)));
  throw UsageError("there is no element type \"" + std::string(name) + '"' +
                   didYouMean(name, kinds));
}

} // namespace

bool isMachineNumber(std::string_view key) {
  const KeyRow* row = findKey(key);
  return row && row->number;
}

bool isRateName(std::string_view text) {
  return elementKindFromName(text.starts_with("si") ? text.substr(1) : text).has_value();
}

void checkMachinePath(std::string_view path, bool axis) {
  std::string_view head = headOf(path);
  bool isPath = head.size() < path.size();
  if (isPath && head == kRateTable)
    return checkRateName(path.substr(head.size() + 1));
  if (isScale(path))
    return;
  const KeyRow* row = isPath ? nullptr : findKey(path);
  if (!row || path == "name")
    throw UsageError("a machine has no \"" + std::string(path) + '"' +
                     didYouMean(path, pathsToSuggest(axis)));
  if (axis && path == kRateTable)
    throw UsageError("a whole table is no axis; take one entry, such as \"" + std::string(path) +
                     ".bf16\", or \"" + std::string(kComputeScale) + '"');
  if (axis && !row->number)
    throw UsageError("\"" + std::string(path) + "\" only informs; it is no axis");
}

Json checkedMachineValue(std::string_view path, const Json& value) {
  if (isScale(path) || headOf(path).size() < path.size())
    return option::positive(value);
  return findKey(path)->validate(value);
}

const std::vector<std::string>& machineKeys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> names;
    for (const KeyRow& key : kKeys)
      names.emplace_back(key.name);
    return names;
  }();
  return keys;
}

Machine parseMachine(const Json& json, const std::string& where) {
  if (!json.is_object())
    throw UsageError("expected a machine (an object), not " + excerpt(json), where);
  Machine machine{"", Json::object()};
  for (const auto& [key, value] : json.items()) {
    const KeyRow* row = findKey(key);
    if (!row)
      throw UsageError("a machine has no key \"" + key + '"' + didYouMean(key, machineKeys()),
                       childPointer(where, key));
    Json checked = atPointer(childPointer(where, key), [&] { return row->validate(value); });
    if (key == "name")
      machine.name = checked.get<std::string>();
    else
      machine.values[key] = std::move(checked);
  }
  if (!machine.values.contains("memory_bandwidth"))
    throw UsageError("the machine does not say its memory_bandwidth", where);
  return machine;
}

Json machineNumbers(const Machine& machine) {
  Json numbers = Json::object();
  for (const auto& [key, value] : machine.values.items())
    if (isMachineNumber(key))
      numbers[key] = value;
  return numbers;
}

void applyScales(Machine& machine) {
  Json& values = machine.values;
  // A setting of the command line may still be text.
  auto number = [](const Json& value) { return option::positive(value).get<double>(); };
  auto multiply = [&](std::string_view key, double factor) {
    auto value = values.find(key);
    if (value != values.end())
      *value = number(*value) * factor;
  };
  if (auto scale = values.find(kComputeScale); scale != values.end()) {
    double factor = number(*scale);
    multiply("peak_flops", factor);
    if (auto table = values.find(kRateTable); table != values.end())
      for (Json& rate : *table)
        rate = number(rate) * factor;
    values.erase(std::string(kComputeScale));
  }
  if (auto scale = values.find(kBandwidthScale); scale != values.end()) {
    multiply("memory_bandwidth", number(*scale));
    values.erase(std::string(kBandwidthScale));
  }
}

} // namespace nocturne
