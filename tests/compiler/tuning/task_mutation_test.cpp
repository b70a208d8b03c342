// Deterministic mutations of a task: each is read, or refused with a UsageError.
#include <doctest/doctest.h>

#include "tests/fuzz/task_fuzz.cpp"
#include "tests/support/mutate_text.h"

TEST_CASE("mutated tasks are read or refused, never worse") {
  const std::string seed = R"({"schema": 1, "name": "t", "payload": "a.mlir", "entry": "main",
  "search_space": 2, "tolerance": 1e-3,
  "candidates": [{"name": "s", "schedule": "s.mlir", "flags": ["--fast-math"]},
                 {"name": "m", "module": "a.mlir"}]})";
  std::mt19937 random(20240229); // its output is the same everywhere
  for (int i = 0; i < 1500; ++i) {
    const std::string text =
        i == 0
            ? seed
            : nocturne::test::mutated(
                  seed, {"{",    "}",       "[",     "]",         ",",           ":",         "\"",
                         "null", "-1",      "1e999", "1e-999",    "3",           "\"\"",      "{}",
                         "..",   "\\u0000", "\xff",  "\"name\":", "\"module\":", "\"a.mlir\""},
                  random);
    CHECK(LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size()) == 0);
  }
}
