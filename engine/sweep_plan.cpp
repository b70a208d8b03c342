#include "engine/sweep_plan.h"

#include <algorithm>
#include <set>

#include "engine/grid.h"
#include "engine/json_text.h"
#include "engine/machine_names.h"
#include "engine/machine_schema.h"
#include "engine/plan_checks.h"

namespace nocturne {

namespace {

constexpr uint64_t kMaximumPoints = 1'000'000'000;
constexpr std::string_view kCapacity = "memory_capacity";

template <typename Entry>
uint64_t sizeOf(const Entry& entry) {
  uint64_t size = 1;
  for (const Axis& axis : entry.grid)
    size *= axis.values.size();
  return size;
}

template <typename Entry>
std::vector<uint64_t> endsOf(const std::vector<Entry>& entries) {
  std::vector<uint64_t> ends;
  for (const Entry& entry : entries)
    ends.push_back((ends.empty() ? 0 : ends.back()) + sizeOf(entry));
  return ends;
}

// An entry and the place in its grid.
template <typename Entry>
struct Located {
  const Entry* entry;
  std::vector<size_t> places;
};

template <typename Entry>
Located<Entry> locate(const std::vector<Entry>& entries, const std::vector<uint64_t>& ends,
                      uint64_t index) {
  auto end = std::upper_bound(ends.begin(), ends.end(), index);
  size_t which = static_cast<size_t>(end - ends.begin());
  if (which >= entries.size())
    throw Error("the plan has no such point");
  uint64_t start = which == 0 ? 0 : ends[which - 1];
  return {&entries[which], axisPlaces(entries[which].grid, index - start)};
}

void addAxes(const std::vector<Axis>& grid, const std::vector<size_t>& places,
             std::vector<std::pair<std::string, Json>>& out) {
  for (size_t i = 0; i < grid.size(); ++i)
    out.emplace_back(grid[i].path, grid[i].values[places[i]]);
}

// Only memory_capacity itself changes it, so the machine need not be made for it.
double memoryCapacity(const HardwareEntry& entry, const std::vector<size_t>& places) {
  for (size_t i = 0; i < entry.grid.size(); ++i)
    if (entry.grid[i].path == kCapacity)
      return entry.grid[i].values[places[i]].get<double>();
  for (const Json* values : {&entry.set, &entry.base.values}) {
    auto value = values->find(kCapacity);
    if (value != values->end() && !value->is_null())
      return option::positive(*value).get<double>();
  }
  return 0;
}

struct Place {
  Located<EstimatorEntry> estimator;
  Located<HardwareEntry> hardware;
};

Point namedPoint(uint64_t index, const Place& place) {
  Point point;
  point.index = index;
  point.estimator = place.estimator.entry->name;
  point.hardware = machineName(*place.hardware.entry, place.hardware.places);
  addAxes(place.estimator.entry->grid, place.estimator.places, point.axes);
  addAxes(place.hardware.entry->grid, place.hardware.places, point.axes);
  point.memoryCapacity = memoryCapacity(*place.hardware.entry, place.hardware.places);
  return point;
}

Place placeOf(const SweepPlan& plan, const std::vector<uint64_t>& estimatorEnds,
              const std::vector<uint64_t>& machineEnds, uint64_t index) {
  bool indexed =
      estimatorEnds.size() == plan.estimators.size() && machineEnds.size() == plan.hardware.size();
  if (!indexed) // entries were added by hand
    return placeOf(plan, endsOf(plan.estimators), endsOf(plan.hardware), index);
  if (machineEnds.empty() || machineEnds.back() == 0)
    throw Error("the plan has no such point");
  uint64_t machines = machineEnds.back();
  return {locate(plan.estimators, estimatorEnds, index / machines),
          locate(plan.hardware, machineEnds, index % machines)};
}

// The keys that the machines of an entry have, as text: machines alike in it lack the same options.
std::string keysOf(const HardwareEntry& entry) {
  std::set<std::string> keys;
  auto add = [&](const std::string& path) { keys.insert(path.substr(0, path.find('.'))); };
  for (const auto& [key, value] : entry.base.values.items())
    if (isMachineNumber(key))
      add(key);
  for (const auto& [path, value] : entry.set.items())
    add(path);
  for (const Axis& axis : entry.grid)
    add(axis.path);
  std::string text;
  for (const std::string& key : keys)
    text += key + ' ';
  return text;
}

const EstimatorDescription& describe(const EstimatorEntry& entry, const EstimatorLookup& lookup) {
  const EstimatorDescription* estimator = lookup(entry.name);
  if (!estimator)
    throw UsageError("there is no estimator \"" + entry.name + '"', entry.pointer);
  const bool optionsMayHelp =
      !estimator->unavailabilityIsFinal && !(entry.set.empty() && entry.grid.empty());
  if (!estimator->unavailable.empty() && !optionsMayHelp)
    throw UsageError("the estimator \"" + entry.name +
                         "\" cannot run here: " + estimator->unavailable,
                     entry.pointer);
  return *estimator;
}

void checkEstimators(const SweepPlan& plan, const EstimatorLookup& lookup) {
  std::set<std::string> seen;
  for (const EstimatorEntry& entry : plan.estimators) {
    checkEntry(entry, describe(entry, lookup));
    Json identity = {entry.name, entry.set, Json::array()};
    for (const Axis& axis : entry.grid)
      identity[2].push_back({axis.path, axis.values});
    if (!seen.insert(canonicalJson(identity)).second)
      throw UsageError("the estimator \"" + entry.name + "\" appears twice with the same options",
                       entry.pointer);
  }
}

// Each estimator on the first machine of each entry: finds the options that no one gives.
void checkCombinations(const SweepPlan& plan, const EstimatorLookup& lookup) {
  std::vector<std::pair<std::string, const HardwareEntry*>> kinds;
  std::set<std::string> seen;
  for (const HardwareEntry& entry : plan.hardware)
    if (std::string keys = keysOf(entry); seen.insert(keys).second)
      kinds.emplace_back(keys, &entry);
  for (const EstimatorEntry& estimator : plan.estimators)
    for (const auto& [keys, hardware] : kinds) {
      std::vector<size_t> estimatorFirst(estimator.grid.size()), first(hardware->grid.size());
      resolvedAt(estimator, estimatorFirst, describe(estimator, lookup),
                 machineAt(*hardware, first), machineName(*hardware, first));
    }
}

template <typename Entry>
void checkSizes(const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) {
    for (const Axis& axis : entry.grid)
      if (axis.values.empty())
        throw UsageError("an axis needs at least one value", entry.pointer);
    combinations(entry.grid, entry.pointer);
  }
}

} // namespace

uint64_t SweepPlan::pointCount() const {
  uint64_t estimatorPoints = 0, machines = 0;
  for (const EstimatorEntry& entry : estimators)
    estimatorPoints += sizeOf(entry);
  for (const HardwareEntry& entry : hardware)
    machines += sizeOf(entry);
  return estimatorPoints * machines;
}

void SweepPlan::index() {
  estimatorEnds_ = endsOf(estimators);
  machineEnds_ = endsOf(hardware);
}

Point SweepPlan::pointNames(uint64_t index) const {
  return namedPoint(index, placeOf(*this, estimatorEnds_, machineEnds_, index));
}

Point SweepPlan::point(uint64_t index, const EstimatorLookup& lookup,
                       const std::string& readerText) const {
  Place place = placeOf(*this, estimatorEnds_, machineEnds_, index);
  Point point = namedPoint(index, place);
  const EstimatorEntry& entry = *place.estimator.entry;
  const EstimatorDescription& estimator = describe(entry, lookup);
  Json machine = machineAt(*place.hardware.entry, place.hardware.places);
  point.options = resolvedAt(entry, place.estimator.places, estimator, machine, point.hardware);
  point.configuration = configurationDigest(estimator, point.options, readerText);
  return point;
}

std::vector<std::string> SweepPlan::axisColumns() const {
  std::vector<std::string> columns;
  std::set<std::string> seen;
  auto add = [&](const std::vector<Axis>& grid) {
    for (const Axis& axis : grid)
      if (seen.insert(axis.path).second)
        columns.push_back(axis.path);
  };
  for (const EstimatorEntry& entry : estimators)
    add(entry.grid);
  for (const HardwareEntry& entry : hardware)
    add(entry.grid);
  return columns;
}

void SweepPlan::validate(const EstimatorLookup& lookup) const {
  checkEntries(*this, lookup);
  checkCombinations(*this, lookup);
}

void checkEntries(const SweepPlan& plan, const EstimatorLookup& lookup) {
  if (plan.estimators.empty())
    throw UsageError("the plan has no estimator");
  if (plan.hardware.empty())
    throw UsageError("the plan has no machine");
  checkSizes(plan.estimators);
  checkSizes(plan.hardware);
  checkEstimators(plan, lookup);
  for (HardwareEntry entry : plan.hardware)
    normaliseEntry(entry);
  checkMachineNames(plan.hardware);
  uint64_t estimatorPoints = endsOf(plan.estimators).back();
  uint64_t machines = endsOf(plan.hardware).back();
  if (estimatorPoints > kMaximumPoints / machines)
    throw UsageError("the plan has more than " + std::to_string(kMaximumPoints) + " points");
}

} // namespace nocturne
