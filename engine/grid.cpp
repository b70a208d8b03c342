#include "engine/grid.h"

#include <algorithm>

#include "engine/json_text.h"

namespace nocturne {

namespace {

constexpr uint64_t kMaximumCombinations = 1'000'000'000;

// base^exponent by squaring; rounding makes it no less monotone in `base`.
double power(double base, int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1)
      result *= base;
    base *= base;
  }
  return result;
}

// The double whose power comes nearest to `value`, for value >= 1: 8 has the exact third root 2.
double root(double value, int64_t degree) {
  double low = 1, high = value; // power(low) <= value
  for (;;) {
    double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high)
      break;
    (power(middle, degree) <= value ? low : high) = middle;
  }
  return value - power(low, degree) <= power(high, degree) - value ? low : high;
}

double numberAt(const Json& json, const char* key, const OptionValidator& validate,
                const std::string& pointer) {
  auto value = json.find(key);
  if (value == json.end())
    throw UsageError("a range needs \"from\", \"to\" and \"steps\"; \"" + std::string(key) +
                         "\" is missing",
                     pointer);
  return atPointer(childPointer(pointer, key), [&] { return validate(*value).get<double>(); });
}

Json finite(const Json& value) {
  if (!value.is_number() || value.get<double>() - value.get<double>() != 0)
    throw UsageError("expected a number, not " + excerpt(value));
  return value.get<double>();
}

Json stepCount(const Json& value) {
  Json count = option::positiveInteger(value);
  if (count < 2 || count > kMaximumSteps)
    throw UsageError("expected a number of steps from 2 to " + std::to_string(kMaximumSteps) +
                     ", not " + excerpt(value));
  return count;
}

std::vector<double> range(const Json& json, const std::string& pointer) {
  static const std::vector<std::string> keys = {"from", "to", "steps", "scale"};
  for (const auto& [key, value] : json.items())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      throw UsageError("a range has no key \"" + key + '"' + didYouMean(key, keys),
                       childPointer(pointer, key));
  Json scale = json.value("scale", Json("linear"));
  atPointer(childPointer(pointer, "scale"),
            [&] { return option::oneOf({"linear", "log"})(scale); });
  bool logarithmic = scale == "log";
  const OptionValidator bound = logarithmic ? option::positive : OptionValidator(finite);
  double from = numberAt(json, "from", bound, pointer);
  double to = numberAt(json, "to", bound, pointer);
  auto steps = static_cast<int64_t>(numberAt(json, "steps", stepCount, pointer));
  double width = logarithmic ? std::max(from, to) / std::min(from, to) : to - from;
  if (width - width != 0)
    throw UsageError("the range is too wide", pointer);
  return logarithmic ? logarithmicSteps(from, to, steps) : linearSteps(from, to, steps);
}

} // namespace

std::vector<double> linearSteps(double from, double to, int64_t steps) {
  std::vector<double> values;
  for (int64_t i = 0; i < steps; ++i)
    values.push_back(from + (to - from) * static_cast<double>(i) / static_cast<double>(steps - 1));
  values.back() = to;
  return values;
}

std::vector<double> logarithmicSteps(double from, double to, int64_t steps) {
  if (from > to) {
    std::vector<double> values = logarithmicSteps(to, from, steps);
    std::reverse(values.begin(), values.end());
    return values;
  }
  double ratio = root(to / from, steps - 1);
  std::vector<double> values;
  for (int64_t i = 0; i < steps; ++i)
    values.push_back(from * power(ratio, i));
  values.back() = to;
  return values;
}

std::vector<Json> axisValues(const Json& json, const std::string& pointer) {
  if (json.is_object()) {
    std::vector<double> numbers = range(json, pointer);
    return {numbers.begin(), numbers.end()};
  }
  if (!json.is_array())
    throw UsageError(
        "expected an array of values or {\"from\", \"to\", \"steps\", \"scale\"}, not " +
            excerpt(json),
        pointer);
  if (json.empty())
    throw UsageError("an axis needs at least one value", pointer);
  if (json.size() > static_cast<size_t>(kMaximumSteps))
    throw UsageError("an axis has at most " + std::to_string(kMaximumSteps) + " values", pointer);
  return {json.begin(), json.end()};
}

uint64_t combinations(const std::vector<Axis>& grid, const std::string& pointer) {
  uint64_t count = 1;
  for (const Axis& axis : grid) {
    count *= axis.values.size();
    if (count > kMaximumCombinations)
      throw UsageError("the grid has more than " + std::to_string(kMaximumCombinations) +
                           " combinations",
                       pointer);
  }
  return count;
}

std::vector<size_t> axisPlaces(const std::vector<Axis>& grid, uint64_t index) {
  std::vector<size_t> places(grid.size());
  for (size_t i = grid.size(); i-- > 0;) {
    places[i] = index % grid[i].values.size();
    index /= grid[i].values.size();
  }
  return places;
}

} // namespace nocturne
