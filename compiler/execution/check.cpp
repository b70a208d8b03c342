#include "compiler/execution/check.h"

#include <algorithm>
#include <cmath>

#include "llvm/ADT/APFloat.h"

#include "engine/error.h"

namespace nocturne::compiler {

namespace {

using Kind = ElementFormat::Kind;

// The place of a real in the order of its format's numbers, both zeros being 0.
int64_t rank(const ElementFormat& format, uint64_t bits) {
  if (!llvm::APFloat::semanticsHasSignedRepr(*format.semantics))
    return int64_t(bits);
  uint64_t sign = uint64_t{1} << (format.bits - 1);
  auto magnitude = int64_t(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}

bool isAlmost(const ElementFormat& format, uint64_t got, uint64_t expected, double tolerance) {
  double a = toDouble(format, got), b = toDouble(format, expected);
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return true;
  return std::signbit(a) == std::signbit(b) && std::abs(a - b) <= tolerance;
}

// Of the worse component.
std::optional<uint64_t> elementUlps(const TensorData& got, const TensorData& expected,
                                    size_t element) {
  uint64_t worst = 0;
  unsigned components = got.format().components();
  for (size_t i = element * components; i < (element + 1) * components; ++i) {
    std::optional<uint64_t> ulps = ulpDistance(got.format(), got.bits(i), expected.bits(i));
    if (!ulps)
      return std::nullopt;
    worst = std::max(worst, *ulps);
  }
  return worst;
}

bool isAsExpected(const Expectation& expectation, const TensorData& got, const TensorData& expected,
                  size_t element) {
  const ElementFormat& format = got.format();
  if (format.kind == Kind::Real && expectation.kind == Expectation::Kind::Close) {
    uint64_t ulps = elementUlps(got, expected, element).value_or(UINT64_MAX);
    return ulps >= expectation.minUlps && ulps <= expectation.maxUlps;
  }
  double tolerance = expectation.kind == Expectation::Kind::AlmostEqual ? expectation.tolerance : 0;
  unsigned components = format.components();
  for (size_t i = element * components; i < (element + 1) * components; ++i) {
    bool agrees = format.kind == Kind::Real
                      ? isAlmost(format, got.bits(i), expected.bits(i), tolerance)
                      : got.bits(i) == expected.bits(i);
    if (!agrees)
      return false;
  }
  return true;
}

Mismatch describe(const TensorData& got, const TensorData& expected, size_t element) {
  const ElementFormat& format = got.format();
  Mismatch mismatch;
  mismatch.place = got.placeText(element);
  mismatch.expected = elementText(format, expected.data() + element * format.elementBytes());
  mismatch.got = elementText(format, got.data() + element * format.elementBytes());
  mismatch.elements = got.count();
  if (format.kind == Kind::Real)
    mismatch.ulps = elementUlps(got, expected, element);
  return mismatch;
}

} // namespace

std::optional<uint64_t> ulpDistance(const ElementFormat& format, uint64_t a, uint64_t b) {
  double first = toDouble(format, a), second = toDouble(format, b);
  if (first == second || (std::isnan(first) && std::isnan(second)))
    return 0;
  if (!std::isfinite(first) || !std::isfinite(second))
    return std::nullopt;
  int64_t low = rank(format, a), high = rank(format, b);
  if (low > high)
    std::swap(low, high);
  return uint64_t(high) - uint64_t(low);
}

std::string Mismatch::text() const {
  std::string text = "element " + place + " is " + got + ", expected " + expected;
  if (ulps)
    text += " (" + std::to_string(*ulps) + " ulp)";
  return text + "; " + std::to_string(count) + " of " + std::to_string(elements) + " differ";
}

std::optional<Mismatch> check(const Expectation& expectation, const TensorData& got,
                              const TensorData& expected) {
  if (got.dtype() != expected.dtype() || got.dims() != expected.dims())
    throw UsageError("a value of " + got.typeText() + " is compared with one of " +
                     expected.typeText());
  std::optional<Mismatch> first;
  for (size_t element = 0; element < got.count(); ++element) {
    if (isAsExpected(expectation, got, expected, element))
      continue;
    if (!first)
      first = describe(got, expected, element);
    ++first->count;
  }
  return first;
}

} // namespace nocturne::compiler
