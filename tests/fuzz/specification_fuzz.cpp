// Fuzz target: text that claims to be a sweep specification either becomes a plan that survives the
// way through JSON, or a UsageError. Links with libFuzzer (clang -fsanitize=fuzzer); engine_tests
// calls it with mutations of valid specifications.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "engine/json_text.h"
#include "engine/sweep_plan.h"
#include "tests/engine/plan_fixture.h"

namespace {

// A folder with one module, so that the patterns of the text walk nothing else.
const std::string& moduleFolder() {
  static const nocturne::test::ScratchDir folder;
  static const std::string written = folder.write("a.mlir");
  return folder.path();
}

void checkPlan(const nocturne::SweepPlan& plan) {
  nocturne::SweepPlan again = nocturne::SweepPlan::fromJson(plan.toJson());
  again.modules = plan.modules;
  if (again.toJson() != plan.toJson() || again.digest() != plan.digest())
    std::abort();
  uint64_t last = plan.pointCount() - 1;
  if (plan.pointNames(last).hardware != again.pointNames(last).hardware)
    std::abort();
  // An option may still refuse this very combination.
  nocturne::Point point = plan.point(last, nocturne::test::lookup(), "reader");
  if (point.configuration != again.point(last, nocturne::test::lookup(), "reader").configuration)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nocturne;
  try {
    Json json = parseJsonText({reinterpret_cast<const char*>(data), size}, "fuzz").value;
    if (json.is_object() && json.contains("modules"))
      json["modules"] = {"**/*.mlir"};
    checkPlan(planFromJson(json, moduleFolder(), test::sources()));
  } catch (const UsageError&) {
  }
  return 0;
}
