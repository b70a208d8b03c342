#include "compiler/cuda/cuda_target.h"

#include <doctest/doctest.h>

#include "engine/error.h"

namespace nocturne::compiler {

TEST_CASE("a device is written for in the oldest PTX that knows it") {
  CHECK(cudaTarget("sm_70").ptxVersion == 60);
  CHECK(cudaTarget("sm_90").ptxVersion == 78);
  CHECK(cudaTarget("sm_90a").ptxVersion == 80);
  CHECK(cudaTarget("sm_121").ptxVersion == 88);
  CHECK(cudaTarget("").arch == "sm_90");
  CHECK(cudaTarget("sm_90").features() == "+ptx78");
  CHECK(cudaTarget("sm_90").ptxText() == "7.8");
}

TEST_CASE("the version of PTX can be asked for") {
  CHECK(cudaTarget("sm_90", "+ptx83").ptxText() == "8.3");
}

TEST_CASE("what is wrong with a device is named") {
  CHECK_THROWS_WITH_AS(cudaTarget("sm_91"), doctest::Contains("\"sm_91\""), UsageError);
  CHECK_THROWS_WITH_AS(cudaTarget("sm_60"), doctest::Contains("between sm_70 and sm_121a"),
                       UsageError);
  CHECK_THROWS_WITH_AS(cudaTarget("sm_90", "+ptx79"), doctest::Contains("\"+ptx79\""), UsageError);
  CHECK_THROWS_WITH_AS(cudaTarget("sm_90", "+avx2"), doctest::Contains("\"+avx2\""), UsageError);
  CHECK_THROWS_WITH_AS(cudaTarget("sm_90", "+ptx70"), doctest::Contains("needs PTX 7.8"),
                       UsageError);
}

} // namespace nocturne::compiler
