// What a plan, a cache key and a help text need to know of an estimator, without its code.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/options.h"

namespace nocturne {

struct EstimatorDescription {
  std::string name; // as selected: "roofline", "roofline_hespas"
  std::string help;
  // Name and version of the class and of each base in hook order: part of every result key.
  std::vector<std::pair<std::string, uint32_t>> versions;
  OptionSchema options;
  bool wholeModule = false;       // no op handlers: keyed by content, not by fingerprint
  bool allowMultiprocess = false; // false: one actor alone runs it
  // A hook of its own wants to see the module of a cache hit; otherwise no table is loaded for one.
  bool hooksSeeHits = false;
  std::string unavailable;           // reason, empty when it can run
  bool unavailabilityIsFinal = true; // false: options may still make it run
  // What else the numbers rest on, part of every key: build id of a plug-in, digest of a program,
  // processor or toolchain that is measured. "" where only the class counts.
  std::string environment;
};

// A description as JSON and back: whoever plans a sweep need not load the code of its estimators.
// The checks of options travel by name (OptionValidator of namespace option); a class's own checks
// do not, so that a value which only they refuse or change passes as it is until the code is there.
// Where no option has such a check, a plan made from the JSON has the keys of one made from the
// code. Throws UsageError with a JSON pointer.
Json toJson(const EstimatorDescription& description);
EstimatorDescription estimatorDescriptionFromJson(const Json& json);

// Finds a description by name; nullptr when there is none.
using EstimatorLookup = std::function<const EstimatorDescription*(const std::string& name)>;

} // namespace nocturne
