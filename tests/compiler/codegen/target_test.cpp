#include "compiler/codegen/target.h"

#include <doctest/doctest.h>

#include "engine/error.h"

namespace nocturne::compiler {

TEST_CASE("native is resolved, always to the same") {
  CpuTarget native = cpuTarget("native");
  CHECK(native.cpu != "native");
  CHECK(native.cpu != "");
  CHECK(native.features.find('+') != std::string::npos);
  CHECK(native == cpuTarget("native"));
}

TEST_CASE("levels and processors stay, unknown names are refused") {
  CHECK(cpuTarget("x86-64-v3") == CpuTarget{"x86-64-v3", ""});
  CHECK(cpuTarget("skylake-avx512") == CpuTarget{"skylake-avx512", ""});
  CHECK_THROWS_AS(cpuTarget("z80"), UsageError);
}

TEST_CASE("processors that run no code for x86-64 are refused") {
  CHECK_THROWS_WITH_AS(cpuTarget("i386"),
                       "no code can be made for the processor \"i386\": it has no 64bit",
                       UsageError);
  CHECK_THROWS_WITH_AS(checkMode({"x86-64-v3", "-sse"}),
                       doctest::Contains("with the features \"-sse\": it has no sse2"), UsageError);
  checkMode({"x86-64-v3", "-avx"});
  checkMode(cpuTarget("native"));
}

} // namespace nocturne::compiler
