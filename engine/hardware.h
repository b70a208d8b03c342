// Machines: a flat, documented schema (docs/formats.md), read from presets and from users' files.
#pragma once

#include <string>
#include <vector>

#include "engine/options.h"

namespace nocturne {

// A machine's name and values. Keys that estimators take: peak_flops (FLOP/s),
// per_datatype_flops {type: FLOP/s}, memory_bandwidth (B/s), memory_capacity (B),
// interconnect_bandwidth (B/s, one way per device), tdp_w (W), num_npus. Keys that only inform:
// vendor, year, source, date, confidence, peak_flops_means, interconnect_note, notes.
struct Machine {
  std::string name;
  Json values; // object
};

// The keys a machine file may have, in the order that help shows.
const std::vector<std::string>& machineKeys();

// Checks a machine object; `where` is the file or pointer for messages. Throws UsageError.
Machine parseMachine(const Json& json, const std::string& where);

// compute_scale multiplies peak_flops and every entry of per_datatype_flops, bandwidth_scale
// multiplies memory_bandwidth. Both are consumed.
void applyScales(Machine& machine);

// Finds machines by preset name, by "hespas/<name>", or by path of a JSON file (relative to
// `base`). A bare hespas name selects our preset and leaves a note where the numbers differ.
class MachineCatalog {
public:
  // `directory` holds hardware/*.json and hespas/*.json.
  explicit MachineCatalog(std::string directory);
  Machine find(const std::string& nameOrPath, const std::string& base,
               std::vector<std::string>& notes) const; // throws UsageError with the nearest name
  std::vector<std::string> names() const;              // sorted, hespas/ ones last

private:
  std::string directory_;
};

// Where the presets are: $NOCTURNE_CONFIGS, else beside the running program
// (../share/nocturne/configs), else the source tree's configs folder that the build recorded.
std::string defaultConfigDirectory();

// Reads a JSON file; comments are allowed. A syntax error is a UsageError with file:line:column.
Json readJsonFile(const std::string& path);

} // namespace nocturne
