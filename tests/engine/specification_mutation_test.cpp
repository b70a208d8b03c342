// Deterministic mutations of valid specifications: each is read, or refused with a UsageError.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/mutate_text.h"

// Each fuzz target has a function of this name; here they share one program.
#define LLVMFuzzerTestOneInput fuzzSpecification
#include "tests/fuzz/specification_fuzz.cpp"
#undef LLVMFuzzerTestOneInput

namespace {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> texts = {
      R"({"modules": ["*.mlir"], "estimators": ["roofline"], "hardware": ["A40"]})",
      R"({"modules": ["a.mlir"], // comment
  "estimators": [{"name": "systolic", "set": {"dataflow": "weight_stationary"},
                  "grid": {"rows": [64, 128], "roofline.compute_efficiency": [0.5, 1]}}],
  "hardware": [{"base": "A100_SXM_80GB", "name": "a{memory_bandwidth}-c{compute_scale}",
                "set": {"num_npus": 4},
                "grid": {"memory_bandwidth": [1.5e12, 2e12],
                         "compute_scale": {"from": 1, "to": 8, "steps": 4, "scale": "log"}}}],
  "assume": {"trip_count": 2, "branch": "mean", "entry": "f"},
  "output_dir": "out", "cache_dir": "c", "disable_cache": false})",
      R"({"modules": ["**"], "estimators": ["roofline"], "in_memory_only_cache": true,
  "hardware": [{"name": "x", "memory_bandwidth": 1e12, "peak_flops": 1e12,
                "per_datatype_flops": {"bf16": 2e12}},
               {"base": {"memory_bandwidth": 1}, "set": {"peak_flops": 5},
                "grid": {"bandwidth_scale": {"from": 1, "to": 2, "steps": 5}}}]})",
  };
  return texts;
}

void run(const std::string& text) {
  fuzzSpecification(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

const std::vector<std::string> kPieces = {"{",         "}",
                                          "[",         "]",
                                          ",",         ":",
                                          "\"",        "null",
                                          "true",      "0",
                                          "-1",        "1e308",
                                          "1e-308",    "1e999",
                                          "\"\"",      "{}",
                                          "[]",        "\"set\":",
                                          "\"grid\":", "\"base\":",
                                          "\"name\":", "{compute_scale}",
                                          ".",         "\"A40\"",
                                          "100001",    "\"steps\":",
                                          "/*",        "//",
                                          "\\u0000",   "\xff"};

} // namespace

TEST_CASE("mutated specifications are read or refused, never worse") {
  std::mt19937 random(20240229); // its output is the same everywhere
  for (const std::string& seed : seeds()) {
    run(seed);
    for (int i = 0; i < 700; ++i)
      run(nocturne::test::mutated(seed, kPieces, random));
  }
}
