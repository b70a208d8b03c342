// How a build is asked for, and what it answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "engine/digest.h"
#include "engine/error.h"

namespace nocturne::compiler {

struct Manifest;

enum class OutputKind : uint8_t { SharedLibrary, Object };

// "lib.so" or "lib.o".
std::string_view libraryName(OutputKind kind);
// ".so" or ".o", and back. Throws UsageError for another text.
std::string_view toString(OutputKind kind);
OutputKind outputKindFromString(std::string_view text);

// The steps of a build, in their order. A build that finds its result passes none but Linked.
enum class BuildStage : uint8_t {
  Locked,    // nobody else builds this key in this folder
  Generated, // object code is in memory
  Linking,   // objects are on disk, the linker is about to start
  Written,   // all files but the manifest are in a temporary folder
  Sealed,    // the manifest as well, and all of them are durable
  Published, // the folder of the key is there
  Linked,    // lib.so and manifest.json beside it point to it
};

struct BuildOptions {
  // Made when missing. One folder may hold the builds of many modules; `lib.so` and
  // `manifest.json` in it lead to the last one asked for.
  std::string outputDir;
  std::string target = "cpu";
  OutputKind kind = OutputKind::SharedLibrary;
  // Builds although there is a valid result.
  bool force = false;
  // Intermediate forms are kept beside the library.
  bool keepIr = false;
  // Reads and checks an existing library even when its file is unchanged since it was last checked.
  bool verify = false;
  // Options of the code generator.
  std::vector<std::string> flags;
  // How long to wait while somebody else builds the same.
  std::chrono::milliseconds lockTimeout{600'000};
  // How long the linker may take.
  std::chrono::milliseconds linkTimeout{300'000};
  std::stop_token stop;
  // Called in the thread that builds.
  std::function<void(BuildStage)> onStage;
};

// A stop was asked for. What was begun has been thrown away.
class BuildCancelled : public Error {
public:
  using Error::Error;
};

enum class BuildState : uint8_t { Built, Reused, Failed, Cancelled };
std::string_view toString(BuildState state);

struct BuildOutcome {
  bool built = false; // false: a valid result was there
  Digest key;
  std::string folder;  // .nocturne/<key>: its content never changes
  std::string library; // in that folder
  std::string link;    // outputDir/lib.so, which leads there until another build takes it
  std::shared_ptr<const Manifest> manifest;
  double seconds = 0;
  std::string log; // of a build; "" when reused
};

// An outcome with its errors as values. `failure` is there in the states Failed and Cancelled;
// `outcome` has a manifest in the other two.
struct BuildReport {
  BuildState state = BuildState::Cancelled;
  BuildOutcome outcome;
  std::optional<Failure> failure;
  double seconds = 0;

  bool succeeded() const { return state == BuildState::Built || state == BuildState::Reused; }
};
// In the state Failed.
BuildReport failedReport(Failure failure);

} // namespace nocturne::compiler
