// Deterministic mutations of manifests and targets: each is read, or refused as it should be.
#include <doctest/doctest.h>

#include "tests/support/mutate_text.h"

// Each fuzz target has a function of this name; here they share one program.
#define LLVMFuzzerTestOneInput fuzzManifest
#include "tests/fuzz/manifest_fuzz.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzzTarget
#include "tests/fuzz/target_fuzz.cpp"
#undef LLVMFuzzerTestOneInput

namespace nocturne::test {

namespace {

using Target = int (*)(const uint8_t* data, size_t size);

void run(Target target, const std::string& seed, const std::vector<std::string>& pieces) {
  std::mt19937 random(20240229); // its output is the same everywhere
  for (int i = 0; i < 2000; ++i) {
    const std::string text = i == 0 ? seed : mutated(seed, pieces, random);
    CHECK(target(reinterpret_cast<const uint8_t*>(text.data()), text.size()) == 0);
  }
}

} // namespace

TEST_CASE("mutated manifests are read or damaged, never worse") {
  compiler::Manifest manifest;
  manifest.target = "cpu --arch=x86-64-v3";
  manifest.modules = {hashBytes("a")};
  manifest.entries = {{"main",
                       "n_main",
                       {{compiler::LibraryArgument::Direction::In, "f32", {2, 3}, 4},
                        {compiler::LibraryArgument::Direction::Out, "i64", {}, 8}}}};
  manifest.library = "lib.so";
  manifest.libraryBytes = 1234;
  manifest.files = {"log.txt"};
  run(fuzzManifest, toJson(manifest),
      {"{",       "}",          "[",      "]",       ",",       ":",
       "\"",      "null",       "-1",     "1.5",     "1e999",   "18446744073709551616",
       "\"\"",    "{}",         "\"..\"", "\"a/b\"", "\\u0000", "\xff",
       "\"f32\"", "\"schema\":"});
}

TEST_CASE("mutated targets are read or refused, never worse") {
  for (const char* seed : {"cpu", "cpu --arch=x86-64-v3 --features=+avx,-sse4a",
                           "cuda --arch=sm_90a --cpu_arch=native"})
    run(fuzzTarget, seed,
        {" ", "--", "=", "arch", "--arch=", "--features=", "sm_", "+", ",", "\t", "\n", "\xff",
         "cuda", "cpu", "99999999999999999999"});
}

} // namespace nocturne::test
