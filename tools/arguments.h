// What the subcommands were given.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace nocturne::tools {

// What the reader supposes where a module leaves something open.
struct AssumeArguments {
  std::optional<std::string> entry;
  std::optional<double> tripCount;
  std::optional<std::string> branch;
};

struct SweepArguments {
  std::vector<std::string> paths; // modules, folders and patterns, or one specification
  std::vector<std::string> plugins;
  std::vector<std::string> hardware, estimators;
  std::vector<std::string> settings; // "key=value"
  AssumeArguments assume;
  std::optional<int> jobs; // absent: one per processor
  bool dryRun = false;
  bool failFast = false;
  std::optional<std::string> outputDir, cacheDir;
  bool disableCache = false, inMemoryOnlyCache = false;
};

struct EstimatorsArguments {
  std::vector<std::string> plugins;
};

struct EstimateArguments {
  std::vector<std::string> plugins;
  std::string file;
  std::string hardware;
  std::string estimator = "roofline";
  std::vector<std::string> settings;
  AssumeArguments assume;
  int top = 20;
  std::string trace; // file for the timeline; "" for none
};

struct RunArguments {
  std::string estimator; // "": the configuration file names it
  std::vector<std::string> plugins;
  std::string configFile, mlirFile; // "" when not given
  std::string events;               // file for the events of the estimator; "" for none
  bool hespasNumbers = false;
  std::vector<std::string> options; // "--flat-name", "value", ...
};

struct BuildArguments {
  std::vector<std::string> paths; // modules: files, folders and patterns
  std::string target = "cpu";
  std::string outputDir;
  std::string kind = "so"; // or "o"
  int level = 3;           // of optimisation
  std::optional<int> jobs; // absent: one per processor
  bool force = false, keepIr = false, generateWeights = false;
  bool inProcess = false; // without worker processes
  double deadline = 600;  // seconds of one build; 0 for none
};

struct WorkerArguments {
  std::string connect; // "127.0.0.1:PORT"
};

struct HardwareArguments {
  std::string show; // the machine; "" to list them all
};

struct ReportArguments {
  std::string directory;
};

struct ExecuteArguments {
  std::vector<std::string> paths; // modules, folders and patterns
  std::vector<std::string> inputs;
  std::string cpu = "native";
  int level = 3;
  std::optional<int> jobs; // absent: one per processor
  double timeout = 60;     // seconds, of one program
  bool table = false;
  std::string print = "summary";
  std::string outputDir;
  std::string irDir; // "": intermediate forms are not kept
  bool generateWeights = false;
  bool worker = false; // answer paths on standard input instead
};

struct TuneArguments {
  std::string path; // a task or a module; with --worker a request
  std::string target = "cpu --arch=native";
  std::string cacheDir; // "": in the user's cache
  std::string entry;    // "": the task's
  std::optional<int> searchSpace, jobs;
  int repetitions = 31;
  double timeout = 120; // seconds of one candidate's run
  bool force = false;
  bool worker = false; // do one request of another process instead
};

} // namespace nocturne::tools
