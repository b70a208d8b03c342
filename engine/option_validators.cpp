#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/json_text.h"
#include "engine/number_text.h"
#include "engine/options.h"

namespace nocturne::option {

namespace {

// The largest number up to which every whole number is a double.
constexpr double kLargestWhole = 9007199254740992.0;

[[noreturn]] void refuse(const std::string& expected, const Json& value) {
  throw UsageError("expected " + expected + ", not " + excerpt(value));
}

// The command line gives text, so text that spells a number is one.
std::optional<double> numberOf(const Json& value) {
  if (value.is_number()) {
    double number = value.get<double>();
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
  }
  if (value.is_string())
    return parseNumber(value.get_ref<const std::string&>());
  return std::nullopt;
}

template <typename Condition>
Json number(const Json& value, const char* expected, Condition&& condition) {
  std::optional<double> number = numberOf(value);
  if (!number || !condition(*number))
    refuse(expected, value);
  return *number;
}

Json whole(const Json& value, const char* expected, double least) {
  std::optional<double> number = numberOf(value);
  if (!number || *number < least || *number > kLargestWhole || std::trunc(*number) != *number)
    refuse(expected, value);
  return static_cast<int64_t>(*number);
}

std::string listed(const std::vector<std::string>& values) {
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) {
    out += i == 0 ? "" : i + 1 == values.size() ? " or " : ", ";
    out += '"' + values[i] + '"';
  }
  return out;
}

} // namespace

Json anyValue(const Json& value) {
  return value;
}

Json text(const Json& value) {
  if (!value.is_string())
    refuse("text", value);
  return value;
}

Json boolean(const Json& value) {
  if (value.is_boolean())
    return value;
  if (value == "true")
    return true;
  if (value == "false")
    return false;
  refuse("true or false", value);
}

Json positive(const Json& value) {
  return number(value, "a positive number", [](double x) { return x > 0; });
}

Json nonNegative(const Json& value) {
  return number(value, "a number that is not negative", [](double x) { return x >= 0; });
}

Json fraction(const Json& value) {
  return number(value, "a number above 0 and at most 1", [](double x) { return x > 0 && x <= 1; });
}

Json positiveInteger(const Json& value) {
  return whole(value, "a whole number above 0", 1);
}

Json nonNegativeInteger(const Json& value) {
  return whole(value, "a whole number that is not negative", 0);
}

Json positiveTable(const Json& value) {
  if (!value.is_object())
    refuse("an object of positive numbers", value);
  Json table = Json::object();
  for (const auto& [key, entry] : value.items()) {
    try {
      table[key] = positive(entry);
    } catch (const UsageError& error) {
      throw UsageError('"' + key + "\": " + error.what());
    }
  }
  return table;
}

namespace {

struct OneOf {
  std::vector<std::string> values;

  Json operator()(const Json& value) const {
    if (!value.is_string())
      refuse("one of " + listed(values), value);
    const std::string& word = value.get_ref<const std::string&>();
    if (std::find(values.begin(), values.end(), word) == values.end())
      throw UsageError("expected one of " + listed(values) + ", not " + excerpt(value) +
                       didYouMean(word, values));
    return value;
  }
};

using PlainCheck = Json (*)(const Json&);
constexpr std::array<std::pair<const char*, PlainCheck>, 9> kPlainChecks = {{
    {"any", anyValue},
    {"text", text},
    {"boolean", boolean},
    {"positive", positive},
    {"non_negative", nonNegative},
    {"fraction", fraction},
    {"positive_integer", positiveInteger},
    {"non_negative_integer", nonNegativeInteger},
    {"positive_table", positiveTable},
}};
constexpr const char* kOneOf = "one_of";
constexpr const char* kCustom = "custom";

} // namespace

OptionValidator oneOf(std::vector<std::string> values) {
  return OneOf{std::move(values)};
}

Kind kindOf(const OptionValidator& validator) {
  if (const auto* list = validator.target<OneOf>())
    return {kOneOf, list->values};
  if (const auto* plain = validator.target<PlainCheck>())
    for (const auto& [name, check] : kPlainChecks)
      if (*plain == check)
        return {name, {}};
  return {kCustom, {}};
}

OptionValidator ofKind(const Kind& kind) {
  if (kind.name == kOneOf)
    return oneOf(kind.values);
  if (kind.name == kCustom)
    return [](const Json& value) { return value; };
  std::vector<std::string> names = {kOneOf, kCustom};
  for (const auto& [name, check] : kPlainChecks) {
    if (kind.name == name)
      return check;
    names.emplace_back(name);
  }
  throw UsageError("there is no kind of option \"" + kind.name + '"' +
                   didYouMean(kind.name, names));
}

} // namespace nocturne::option
