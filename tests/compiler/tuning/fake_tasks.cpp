#include "tests/compiler/tuning/fake_tasks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "engine/error.h"

namespace nocturne::test {

using namespace compiler;

namespace {

constexpr int32_t kWayInKernel = 0x0badcafe, kRoundsInKernel = 0x0badbeef;
constexpr std::array<std::string_view, 6> kWays = {"right", "wrong",  "crash",
                                                   "hang",  "refuse", "once"};

std::string bytesOf(int32_t number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

void replace(std::string& bytes, int32_t from, int32_t to) {
  const size_t place = bytes.find(bytesOf(from));
  if (place == std::string::npos)
    throw std::runtime_error("the kernel is not what it was");
  bytes.replace(place, sizeof from, bytesOf(to));
}

// What follows `name` in the flag that begins with it, or `otherwise`.
std::string valueOf(const std::vector<std::string>& flags, const std::string& name,
                    const std::string& otherwise) {
  for (const std::string& flag : flags)
    if (flag.starts_with(name))
      return flag.substr(name.size());
  return otherwise;
}

} // namespace

GeneratedCode FakeWays::generate(const ModuleSource&, const Target&,
                                 const GenerateOptions& options) {
  if (!countFile_.empty()) {
    const int file = ::open(countFile_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    static_cast<void>(!::write(file, "x", 1));
    ::close(file);
  }
  const std::vector<std::string>& flags = options.flags;
  if (std::find(flags.begin(), flags.end(), "--bad") != flags.end())
    throw ItemError({FailureKind::UnsupportedOp, "a bad candidate", "", 3, 0});
  const std::string needed = valueOf(flags, "--missing=", "");
  if (!needed.empty() && !std::filesystem::exists(needed))
    throw ItemError({FailureKind::ToolFailed, "a tool is missing", "", 0, 0});
  std::ifstream file(NOCTURNE_TEST_WAYS, std::ios::binary);
  std::string object((std::istreambuf_iterator<char>(file)), {});
  const auto found = std::find(kWays.begin(), kWays.end(), valueOf(flags, "--way=", "right"));
  replace(object, kWayInKernel, int32_t(found - kWays.begin()));
  replace(object, kRoundsInKernel, std::stoi(valueOf(flags, "--rounds=", "1")));
  GeneratedCode code;
  code.object = object;
  code.entries.push_back({"scale",
                          "scale",
                          {{LibraryArgument::Direction::In, "f32", {4}, 4},
                           {LibraryArgument::Direction::Out, "f32", {4}, 4}}});
  return code;
}

Candidate way(const std::string& flag, const std::string& more) {
  Candidate candidate{flag, "", {flag}, {}};
  if (!more.empty())
    candidate.flags.push_back(more);
  return candidate;
}

Task taskOf(std::vector<Candidate> candidates) {
  Task task;
  task.name = "scale";
  task.payload = {"scale.mlir", "twice"};
  task.candidates = std::move(candidates);
  task.searchSpace = SearchSpace::Default;
  return task;
}

TaskOptions quickly(const std::string& cacheDir, bool isolated) {
  TaskOptions options;
  options.cacheDir = cacheDir;
  options.timing = {1e-4, 5e-5, 9, 0.5};
  options.runTimeout = std::chrono::milliseconds(60000);
  if (isolated)
    options.worker = {NOCTURNE_TEST_TUNING_PROBE, "worker"};
  return options;
}

} // namespace nocturne::test
