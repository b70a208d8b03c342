// Builds one module and says how far it is. Stops at a step until it reads a byte.
// usage: drivers_probe OUTPUT_DIR STOP_AT [--count FILE] [--linker PROGRAM] [--timeout MS]
// [--force] Lines: the step that it stops at; at the end "built DIGEST", "reused DIGEST" or "failed
// MESSAGE".
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/drivers/driver.h"
#include "compiler/drivers/manifest.h"
#include "tests/compiler/drivers/fake_generator.h"

namespace {

using namespace nocturne;
using compiler::BuildStage;

const char* nameOf(BuildStage stage) {
  switch (stage) {
  case BuildStage::Locked:
    return "locked";
  case BuildStage::Generated:
    return "generated";
  case BuildStage::Linking:
    return "linking";
  case BuildStage::Written:
    return "written";
  case BuildStage::Sealed:
    return "sealed";
  case BuildStage::Published:
    return "published";
  case BuildStage::Linked:
    break;
  }
  return "linked";
}

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

} // namespace

int main(int count, char** words) {
  if (count < 3)
    return 2;
  const std::string stopAt = words[2];
  std::string countFile, linker = "ld.lld-22";
  compiler::BuildOptions options;
  options.outputDir = words[1];
  for (int i = 3; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--force")
      options.force = true;
    else if (i + 1 == count)
      return 2;
    else if (word == "--count")
      countFile = words[++i];
    else if (word == "--linker")
      linker = words[++i];
    else if (word == "--timeout")
      options.lockTimeout = std::chrono::milliseconds(std::stol(words[++i]));
  }
  options.onStage = [&](BuildStage stage) {
    if (stopAt != nameOf(stage))
      return;
    say(stopAt);
    std::getchar();
  };
  compiler::BuildDriver driver(std::make_shared<test::FakeGenerator>("fake 1", countFile),
                               compiler::Linker(linker));
  const compiler::BuildReport report = driver.tryBuild(test::scaleModule("twice", 2), options);
  if (!report.succeeded()) {
    say("failed " + report.failure->text());
    return 1;
  }
  say(std::string(toString(report.state)) + ' ' + report.outcome.manifest->libraryDigest.hex());
  return 0;
}
