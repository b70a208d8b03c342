// A sweep, fully resolved and free of side effects: modules x points. Points are made on demand, so
// that a hundred thousand of them take no memory.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/digest.h"
#include "engine/estimator_description.h"
#include "engine/hardware.h"

namespace nocturne {

enum class CacheMode : uint8_t { OnDisk, InMemory, Disabled };

struct ModuleFile {
  std::string path; // to open
  std::string name; // in results: relative to the specification, with '/'
};

// One axis of a grid: an option path (or compute_scale, bandwidth_scale) and its values.
struct Axis {
  std::string path;
  std::vector<Json> values;
};

// An estimator with fixed options and a grid.
struct EstimatorEntry {
  std::string name;
  Json set = Json::object();
  std::vector<Axis> grid;
  std::string pointer; // where it stands in the specification
};

// A machine with changes and a grid. `nameTemplate` contains {axis} where an axis value goes.
struct HardwareEntry {
  Machine base;
  std::string nameTemplate;
  Json set = Json::object();
  std::vector<Axis> grid;
  std::string pointer;
};

struct Assumptions {
  double tripCount = 1;
  std::string branch = "largest"; // largest, first, mean
  std::string entry;              // function to start from, "" for the rule
};

// One estimator on one machine, complete.
struct Point {
  uint64_t index = 0;
  std::string estimator;
  std::string hardware;
  std::vector<std::pair<std::string, Json>> axes; // path, value; those this point has
  Json options;                                   // resolved, with every default
  Digest configuration;                           // everything of a result key except the module
  double memoryCapacity = 0;                      // bytes, 0 when the machine does not say
};

// What is asked. Every field has its final value except that points are lazily expanded.
class SweepPlan {
public:
  std::vector<ModuleFile> modules; // in report order
  std::vector<EstimatorEntry> estimators;
  std::vector<HardwareEntry> hardware;
  Assumptions assume;
  std::string outputDir = "out";
  std::string cacheDir = "out/cache";
  CacheMode cacheMode = CacheMode::OnDisk;
  std::vector<std::string> notes; // for people: derated presets and the like

  uint64_t pointCount() const;
  // Estimator-major, then machine, both grids crossed, last axis fastest: the order of results.csv.
  // `readerText` is ModuleReader::keyText(): the configuration digest covers it. Throws UsageError
  // when the options of this very combination do not fit.
  Point point(uint64_t index, const EstimatorLookup& lookup, const std::string& readerText) const;
  // Names only: cheap, for reports. `options` and `configuration` stay empty.
  Point pointNames(uint64_t index) const;
  // One column per axis path of any entry, in order of first appearance.
  std::vector<std::string> axisColumns() const;
  // Checks everything that can be checked without visiting each point: estimators exist and are
  // available, axis paths exist, each axis value alone is valid, machine names are unique.
  void validate(const EstimatorLookup& lookup) const; // throws UsageError

  // Without the module list; fromJson(toJson()) is the same plan.
  Json toJson() const;
  static SweepPlan fromJson(const Json& json);
  // Identity of what is asked, modules included; where output and cache go, the cache mode, notes
  // and what only informs about a machine are left out.
  Digest digest() const;

  // Remembers where the points of each entry begin, so that finding one does not walk over the
  // others. Everything that makes a plan calls it; who changes entries afterwards calls it again.
  void index();

private:
  std::vector<uint64_t> estimatorEnds_, machineEnds_; // running totals; empty before index()
};

// The number of points that one shard covers.
inline constexpr uint64_t kShardPoints = 256;

struct PlanSources {
  const MachineCatalog& machines;
  EstimatorLookup estimators;
  std::vector<std::string> estimatorNames = {}; // to suggest from; may stay empty
};

// The plug-ins that a specification names, relative paths joined with its folder: to be loaded
// before its plan can be made. Throws UsageError.
std::vector<std::string> pluginsOf(const std::string& path);
// From a specification file (comments allowed; relative paths are relative to the file).
SweepPlan planFromFile(const std::string& path, const PlanSources& sources);
// From its text, for tests; `directory` is what relative paths are relative to. Axes come in the
// order in which the file has them; a Json has lost that order, so that here it is alphabetical.
SweepPlan planFromJson(const Json& specification, const std::string& directory,
                       const PlanSources& sources);
// From the command line: files, folders (all *.mlir and *.mlirbc below) and patterns; each of
// `machines` a preset or file; each of `estimators` a name. Required options may be missing, since
// the command line may set them yet: validate() afterwards finds out.
SweepPlan planFromArguments(const std::vector<std::string>& paths,
                            const std::vector<std::string>& machines,
                            const std::vector<std::string>& estimators, const PlanSources& sources);
// Expands files, folders and patterns (*, ?, **, [..]) against `directory`: in the order given,
// what each finds sorted bytewise, duplicates dropped. Throws UsageError for one that finds
// nothing.
std::vector<ModuleFile> expandModules(const std::vector<std::string>& patterns,
                                      const std::string& directory);

// Everything of a key except the module: schema, reader version and options, estimator, versions,
// influencing options.
Digest configurationDigest(const EstimatorDescription& estimator, const Json& resolvedOptions,
                           const std::string& readerText);
// The key of one result. `module` is the fingerprint, or the content hash for whole-module
// estimators. Its first 8 bytes are those of `module`, the other 24 a digest of both: the keys of
// one module are neighbours in the index of a cache of ten million rows, so that a shard touches
// few of its pages.
Digest resultKey(const Digest& configuration, const Digest& module);

} // namespace nocturne
