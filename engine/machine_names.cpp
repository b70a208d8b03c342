#include "engine/machine_names.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "engine/grid.h"
#include "engine/json_text.h"
#include "engine/machine_schema.h"
#include "engine/number_text.h"

namespace nocturne {

namespace {

// More names than this are not compared one by one.
constexpr uint64_t kMaximumCompared = 4'000'000;
constexpr std::string_view kNumberBytes = "0123456789.e+";

// One piece of a template: text, then the value of an axis unless the piece is the last.
struct NamePart {
  std::string_view literal;
  std::string_view path;
  const Axis* axis = nullptr; // null when `path` names none
};

const Axis* findAxis(const std::vector<Axis>& grid, std::string_view path) {
  auto axis = std::find_if(grid.begin(), grid.end(), [&](const Axis& a) { return a.path == path; });
  return axis == grid.end() ? nullptr : &*axis;
}

std::vector<NamePart> partsOf(const HardwareEntry& entry) {
  std::vector<NamePart> parts;
  std::string_view rest = entry.nameTemplate;
  for (;;) {
    size_t open = rest.find('{');
    size_t close = rest.find('}', open);
    if (open == std::string_view::npos || close == std::string_view::npos)
      break;
    std::string_view path = rest.substr(open + 1, close - open - 1);
    parts.push_back({rest.substr(0, open), path, findAxis(entry.grid, path)});
    rest.remove_prefix(close + 1);
  }
  parts.push_back({rest, {}, nullptr});
  return parts;
}

std::string namePointer(const HardwareEntry& entry) {
  return entry.pointer.empty() ? "" : childPointer(entry.pointer, "name");
}

std::string placeholder(std::string_view path) {
  return '{' + std::string(path) + '}';
}

// Whether the text after a placeholder shows where the (number) text of its value ends.
bool separates(std::string_view literal) {
  // A number has '-' only after 'e', so that one right behind it is no part of it.
  if (literal.starts_with('-'))
    return true;
  size_t other = literal.find_first_not_of(kNumberBytes);
  return other != std::string_view::npos && literal[other] != '-';
}

// Whether different places must give different names: the values of an axis differ as texts, so it
// is enough that a name can be taken apart again.
bool canBeTakenApart(const std::vector<NamePart>& parts) {
  for (size_t i = 0; i + 2 < parts.size(); ++i)
    if (!separates(parts[i + 1].literal))
      return false;
  return true;
}

void checkTemplate(const HardwareEntry& entry, const std::vector<NamePart>& parts) {
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (parts[i].axis)
      continue;
    std::vector<std::string> axes;
    for (const Axis& axis : entry.grid)
      axes.push_back(axis.path);
    throw UsageError("the name has " + placeholder(parts[i].path) +
                         ", but the grid has no such axis" + didYouMean(parts[i].path, axes),
                     namePointer(entry));
  }
  for (const Axis& axis : entry.grid) {
    bool named = std::any_of(parts.begin(), parts.end(),
                             [&](const NamePart& part) { return part.axis == &axis; });
    if (axis.values.size() > 1 && !named)
      throw UsageError("several machines would be named \"" + entry.nameTemplate + "\"; add " +
                           placeholder(axis.path) + " to the name",
                       namePointer(entry));
  }
}

[[noreturn]] void throwRepeated(const HardwareEntry& entry, const HardwareEntry& other,
                                const std::string& name) {
  std::string message = "two machines are named \"" + name + '"';
  if (!other.pointer.empty() && &entry != &other)
    message += " (the other is at " + other.pointer + ')';
  message += &entry == &other ? "; put something between the placeholders of the name"
                              : "; give one of them a \"name\" of its own";
  throw UsageError(message, entry.pointer);
}

// What every name of an entry begins with, for sorting.
struct Opening {
  std::string_view text;
  const HardwareEntry* entry;
  bool isWholeName;
};

// The entries whose names might be those of another entry.
std::vector<const HardwareEntry*> doubtful(std::vector<Opening> openings) {
  std::stable_sort(openings.begin(), openings.end(),
                   [](const Opening& a, const Opening& b) { return a.text < b.text; });
  std::vector<const HardwareEntry*> result;
  std::vector<const Opening*> prefixes; // each begins with the one before it
  const Opening* previous = nullptr;
  for (const Opening& opening : openings) {
    if (previous && previous->isWholeName && opening.isWholeName && previous->text == opening.text)
      throwRepeated(*opening.entry, *previous->entry, std::string(opening.text));
    while (!prefixes.empty() && !opening.text.starts_with(prefixes.back()->text))
      prefixes.pop_back();
    if (!prefixes.empty()) {
      result.push_back(prefixes.back()->entry);
      result.push_back(opening.entry);
    }
    if (!opening.isWholeName)
      prefixes.push_back(&opening);
    previous = &opening;
  }
  return result;
}

void compareOneByOne(const std::vector<const HardwareEntry*>& entries) {
  std::unordered_map<std::string, const HardwareEntry*> owners;
  uint64_t total = 0;
  for (const HardwareEntry* entry : entries) {
    uint64_t count = combinations(entry->grid, entry->pointer);
    total += count;
    if (total > kMaximumCompared)
      throw UsageError("too many machine names to compare; let the names of each entry begin with "
                       "another text, and separate the placeholders",
                       namePointer(*entry));
    for (uint64_t i = 0; i < count; ++i) {
      std::vector<size_t> places = axisPlaces(entry->grid, i);
      auto [owner, fresh] = owners.emplace(machineName(*entry, places), entry);
      if (!fresh)
        throwRepeated(*entry, *owner->second, owner->first);
    }
  }
}

} // namespace

std::string axisText(const Json& value) {
  if (value.is_number())
    return shortest(value.get<double>());
  return value.is_string() ? value.get<std::string>() : canonicalJson(value);
}

std::string machineName(const HardwareEntry& entry, std::span<const size_t> places) {
  if (entry.grid.empty())
    return entry.nameTemplate;
  std::string name;
  for (const NamePart& part : partsOf(entry)) {
    name += part.literal;
    if (part.axis)
      name += axisText(part.axis->values[places[part.axis - entry.grid.data()]]);
  }
  return name;
}

std::string defaultNameTemplate(const HardwareEntry& entry) {
  std::string name = entry.base.name;
  for (const auto& [path, value] : entry.set.items())
    if (value.is_number() && isMachineNumber(path.substr(0, path.find('.'))))
      name += '-' + path + axisText(value);
  for (std::string_view scale : {kComputeScale, kBandwidthScale})
    if (auto value = entry.set.find(scale); value != entry.set.end())
      name += '-' + std::string(scale) + axisText(*value);
  for (const Axis& axis : entry.grid)
    name += '-' + axis.path + placeholder(axis.path);
  return name;
}

void checkMachineNames(const std::vector<HardwareEntry>& entries) {
  std::vector<Opening> openings;
  std::vector<const HardwareEntry*> compared;
  for (const HardwareEntry& entry : entries) {
    std::vector<NamePart> parts = partsOf(entry);
    checkTemplate(entry, parts);
    openings.push_back({parts.front().literal, &entry, parts.size() == 1});
    if (!canBeTakenApart(parts))
      compared.push_back(&entry);
  }
  std::vector<const HardwareEntry*> others = doubtful(std::move(openings));
  compared.insert(compared.end(), others.begin(), others.end());
  std::sort(compared.begin(), compared.end());
  compared.erase(std::unique(compared.begin(), compared.end()), compared.end());
  compareOneByOne(compared);
}

} // namespace nocturne
