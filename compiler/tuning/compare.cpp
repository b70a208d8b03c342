#include "compiler/tuning/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "llvm/ADT/APFloat.h"

namespace nocturne::compiler {

namespace {

// Of the finite ones.
double rootMeanSquare(const TensorData& tensor) {
  double sum = 0;
  size_t count = 0;
  for (size_t i = 0; i < tensor.componentCount(); ++i) {
    const double value = tensor.value(i);
    if (!std::isfinite(value))
      continue;
    sum += value * value;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(sum / double(count));
}

bool agree(double got, double wanted, double tolerance, double scale) {
  if (std::isnan(got) || std::isnan(wanted))
    return std::isnan(got) && std::isnan(wanted);
  if (std::isinf(got) || std::isinf(wanted))
    return got == wanted;
  return std::abs(got - wanted) <= tolerance * std::max(std::abs(wanted), scale);
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

} // namespace

double usualTolerance(const ElementFormat& format) {
  constexpr double kRoundings = 1024, kMost = 0.02;
  if (format.kind != ElementFormat::Kind::Real)
    return 0;
  const auto precision = int(llvm::APFloat::semanticsPrecision(*format.semantics));
  const double rounding = std::ldexp(1.0, 1 - precision);
  return std::max(std::min(kRoundings * rounding, kMost), 2 * rounding);
}

std::optional<std::string> difference(const TensorData& got, const TensorData& wanted,
                                      std::optional<double> tolerance) {
  if (got.dtype() != wanted.dtype() || got.dims() != wanted.dims())
    return "is " + got.typeText() + " instead of " + wanted.typeText();
  const bool isReal = got.format().kind == ElementFormat::Kind::Real;
  const double allowed = tolerance.value_or(usualTolerance(got.format()));
  const double scale = isReal ? rootMeanSquare(wanted) : 0;
  size_t wrong = 0, first = 0;
  for (size_t i = 0; i < got.componentCount(); ++i) {
    if (got.bits(i) == wanted.bits(i) ||
        (isReal && agree(got.value(i), wanted.value(i), allowed, scale)))
      continue;
    if (wrong++ == 0)
      first = i;
  }
  if (wrong == 0)
    return std::nullopt;
  return "differs in " + std::to_string(wrong) + " of " + std::to_string(got.componentCount()) +
         " numbers, first at " + got.placeText(first / got.format().components()) + ": " +
         number(got.value(first)) + " instead of " + number(wanted.value(first));
}

} // namespace nocturne::compiler
