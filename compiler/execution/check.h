// What programs expect of their values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/execution/tensor_data.h"

namespace nocturne::compiler {

// One check operation, with the tolerance that the interpreter of StableHLO has for it.
struct Expectation {
  enum class Kind : uint8_t {
    Equal,       // check.expect_eq: the same value; NaN is NaN, the zeros are the same
    AlmostEqual, // check.expect_almost_eq: of the same sign and `tolerance` apart at most
    Close,       // check.expect_close: between minUlps and maxUlps steps of the format apart
  };
  Kind kind = Kind::Equal;
  double tolerance = 1e-4;
  uint64_t minUlps = 0, maxUlps = 3;
};

// The first element that is not as expected.
struct Mismatch {
  std::string place;            // "[0,3]"
  std::string expected, got;    // as elementText() has them
  std::optional<uint64_t> ulps; // between the worse components; absent where it is no number
  size_t count = 0;             // of elements that are not as expected
  size_t elements = 0;          // of all

  std::string text() const;
};

// Absent when `got` is as expected. Throws UsageError for tensors of different types.
std::optional<Mismatch> check(const Expectation& expectation, const TensorData& got,
                              const TensorData& expected);

// Numbers of the format between two reals, the zeros being one; absent where only one of them is
// finite, or where they are different infinities or only one is NaN. Two NaN are 0 apart.
std::optional<uint64_t> ulpDistance(const ElementFormat& format, uint64_t a, uint64_t b);

} // namespace nocturne::compiler
