// Configuration options: declared once, resolved against what a user wrote and a machine offers.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/error.h"
#include "engine/json.h"

namespace nocturne {

// Returns the value to keep, converted; throws UsageError (without pointer) that says what was
// expected, such as "expected a positive number".
using OptionValidator = std::function<Json(const Json&)>;

// Validators of the common kinds.
namespace option {
Json anyValue(const Json& value);
Json text(const Json& value);
Json boolean(const Json& value);     // true, false and those words as text
Json positive(const Json& value);    // a number > 0, also as text
Json nonNegative(const Json& value); // a number >= 0
Json fraction(const Json& value);    // 0 < x <= 1
Json positiveInteger(const Json& value);
Json nonNegativeInteger(const Json& value);
Json positiveTable(const Json& value); // object of text -> number > 0
// One of `values`; the error lists them and names the nearest.
OptionValidator oneOf(std::vector<std::string> values);
// "positive", "one_of" with `values`, and so on; "custom" for a check that is none of these.
struct Kind {
  std::string name{};
  std::vector<std::string> values{};
};
Kind kindOf(const OptionValidator& validator);
// The check of that kind; for "custom" one that lets everything pass. Throws UsageError for a name
// that there is not.
OptionValidator ofKind(const Kind& kind);
} // namespace option

// The empty braces let a part of the members be written in an initialiser without a warning.
struct ConfigOption {
  std::string name{};
  OptionValidator validate = option::anyValue;
  OptionValidator postValidate{}; // sees what `validate` kept, and may change it once more
  Json defaultValue{};            // null: none; a default makes the option optional
  bool optional = false;
  bool topLevel = false;        // not nested under the base's display name in derived classes
  bool influencesResult = true; // false for cache, log and job options
  std::string hardwareKey{};    // machine value that fills it when the user gives none
  std::string help{};

  // The value as it is kept. Throws UsageError without pointer.
  Json checked(const Json& value) const {
    return postValidate ? postValidate(validate(value)) : validate(value);
  }
};

// The options of a class: its own (and top-level ones of its bases), and one sub-object per base.
struct OptionSchema {
  std::vector<ConfigOption> options{};
  std::map<std::string, OptionSchema> nested{}; // by display name of the base
};

// The complete configuration: `given` checked (unknown keys are errors with the nearest valid
// name), missing options taken from `machine` (an object; may be null) or their default, missing
// required ones reported together. `pointer` is where `given` stands in its file, for messages.
// Throws UsageError.
Json resolveOptions(const OptionSchema& schema, const Json& given, const Json& machine,
                    const std::string& pointer);

// The part of a resolved configuration that may influence a result, as canonical text: keys sorted,
// numbers in their shortest form (1 and 1.0 are one number), no blanks.
std::string influencingText(const OptionSchema& schema, const Json& resolved);
std::string canonicalJson(const Json& value);

// Sets the value at an option path ("rows", "roofline.peak_flops", "per_datatype_flops.bf16").
void setAtPath(Json& object, std::string_view path, const Json& value);
// True when the path names an option of the schema, or a key inside a table-valued option.
bool hasPath(const OptionSchema& schema, std::string_view path);
// All option paths of the schema, for messages and help.
std::vector<std::string> optionPaths(const OptionSchema& schema);

// An option path as one word: "roofline.peak_flops" is "roofline_peak_flops".
std::string flatName(std::string_view path);
// The path that a flat name stands for; "" when there is none. A path stands for itself.
std::string pathOfFlatName(const OptionSchema& schema, std::string_view name);
// `given` with options changed by flat name or path, such as {"roofline_peak_flops": 1e12}; null
// leaves an option as it is. Throws UsageError for a name that there is not.
Json withOverrides(const OptionSchema& schema, Json given, const Json& overrides);

// The candidate nearest to `word` by edit distance, "" when none is near enough to suggest.
std::string nearestName(std::string_view word, const std::vector<std::string>& candidates);
// "; did you mean \"x\"?" or "" - to append to a message.
std::string didYouMean(std::string_view word, const std::vector<std::string>& candidates);

} // namespace nocturne
