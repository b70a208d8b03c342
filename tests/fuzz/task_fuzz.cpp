// Fuzz target: a file that claims to be a task becomes one, or a UsageError. Links with libFuzzer
// (clang -fsanitize=fuzzer); tuning_tests calls it with mutations of a valid one.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "compiler/tuning/task.h"
#include "engine/error.h"
#include "tests/support/scratch_dir.h"

namespace {

// With the files that a task may name.
const nocturne::test::ScratchDir& taskFolder() {
  static const nocturne::test::ScratchDir folder;
  static const std::string written[] = {folder.write("a.mlir", "module {}"),
                                        folder.write("s.mlir", "module {}")};
  return folder;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (text.find('/') != std::string::npos) // any file of the machine, and devices without an end
    return 0;
  try {
    const nocturne::compiler::Task task =
        nocturne::compiler::readTask(taskFolder().write("task.json", text));
    if (task.payload.name.empty() || (task.tolerance && !(*task.tolerance >= 0)))
      std::abort();
  } catch (const nocturne::UsageError&) {
  }
  return 0;
}
