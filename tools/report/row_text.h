// One row of results.csv and results.jsonl: a module on a point.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/services.h"
#include "engine/sweep_plan.h"
#include "tools/report/notes.h"

namespace nocturne::tools {

enum class FitsMemory : uint8_t { Yes, No, Unknown };
std::string_view toString(FitsMemory fits);
// `facts` may be null. A machine that does not say what it has (capacity 0) leaves it unknown.
FitsMemory fitsMemory(const ModuleFacts* facts, double memoryCapacity);

std::string_view toString(ItemStatus status); // "ok", "failed", "not_run"
double coverageOf(const ResultRow& row);      // 1 for an empty module

// Equal assumptions of a module, counted.
struct CountedAssumption {
  Assumption assumption; // with the place of the first
  uint64_t count = 1;
};
std::vector<CountedAssumption> countAssumptions(const std::vector<Assumption>& assumptions);
// A supposed rate as an assumption: {"datatype_rate", "f8E4M3FN"}.
Assumption rateAssumption(const std::string& elementType);
// "trip_count=1 (x24);branch=largest"
std::string assumptionText(const std::vector<CountedAssumption>& assumptions);

// The fixed pieces of the rows of one point, escaped once.
struct PointText {
  std::string csv, json; // estimator, hardware and the axes
  double memoryCapacity = 0;
};
PointText pointText(const Point& point, const std::vector<std::string>& axisColumns);

// The fixed pieces of the rows of one module, escaped once.
struct ModuleText {
  std::string csvHead, csvCollectives, csvAssumptions;
  std::string jsonHead, jsonCollectives, jsonAssumptions; // assumptions without the brackets
  const ModuleFacts* facts = nullptr;
};
// `facts` may be null when the module could not be read or was not yet; it is kept by pointer.
ModuleText moduleText(const std::string& name, const ModuleFacts* facts);

std::string csvHeader(const std::vector<std::string>& axisColumns);
// Both with the line's end. `item` is null for what was not run.
void appendCsvRow(std::string& out, const ModuleText& module, const PointText& point,
                  const ItemRecord* item, const Notes& notes);
void appendJsonRow(std::string& out, const ModuleText& module, const PointText& point,
                   const ItemRecord* item, const Notes& notes);
// {"kind", "message", "file", "line", "column"}, or null.
void appendJsonFailure(std::string& out, const Failure* failure);

} // namespace nocturne::tools
