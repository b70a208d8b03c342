// What estimators return. Times are in seconds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/error.h"
#include "engine/json.h"
#include "engine/module.h"

namespace nocturne {

enum class Bound : uint8_t { Free, Compute, Memory, Overhead };
std::string_view toString(Bound bound);

// One execution of one operation.
struct OpResult {
  OpResult() = default; // no aggregate: {0.5} would set `success`
  // Success, in so much time.
  static OpResult inSeconds(double seconds) {
    OpResult result;
    result.runtime = seconds;
    return result;
  }

  bool success = true;
  std::optional<double> runtime;            // seconds; a success has one
  double flops = 0;                         // operations of arithmetic
  double bytes = 0;                         // bytes moved to and from memory
  ElementKind datatype = ElementKind::None; // the type whose rate was used
  Bound bound = Bound::Free;
  bool covered = true;      // false: charged by a fallback (`unknown_op`), not by a rule for it
  bool rateAssumed = false; // the machine's table lacks `datatype`; its peak_flops was used
  Json metadata;            // null unless an estimator adds to it
};

// Which operations had no rule of their own.
struct Uncovered {
  std::string name; // operation name, or "custom_call:<target>"
  double runs = 0;
  bool operator==(const Uncovered&) const = default;
};

struct ModuleResult {
  bool success = true;
  std::optional<double> runtime; // seconds
  double flops = 0, bytes = 0;
  double coveredRuns = 0, totalRuns = 0; // coverage is their ratio; 1 for an empty module
  std::vector<Uncovered> uncovered;      // by name
  std::vector<ElementKind> assumedRates; // types whose rate was assumed, ascending
  std::optional<Failure> failure;
  Json metadata; // null or an object
  double coverage() const { return totalRuns == 0 ? 1.0 : coveredRuns / totalRuns; }
};

// As an object it has six keys: success, runtime_estimate, metadata, module_file, module_idx and
// statistics. toJson writes exactly those.
struct EstimatorResult : ModuleResult {
  std::string moduleFile;
  uint64_t moduleIndex = 0;
  Json statistics; // null or an object: this module's own
  bool fromCache = false;
};
Json toJson(const EstimatorResult& result);
// The same object as text, its keys in the order above; `indent` as in Json::dump.
std::string toJsonText(const EstimatorResult& result, int indent = -1);
// Strict: all six keys, no other, each of its type. Throws UsageError naming the key.
EstimatorResult estimatorResultFromJson(const Json& json);

// Time, flops and bytes of all executions of one operation name in one module.
struct OpNameTotal {
  std::string name;
  double runs = 0, runtime = 0, flops = 0, bytes = 0;
  Bound bound = Bound::Free; // of the largest share of its time
};

} // namespace nocturne
