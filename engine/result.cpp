#include "engine/result.h"

#include <algorithm>
#include <array>

namespace nocturne {

namespace {

// In the order of Bound.
constexpr std::array<std::string_view, 4> kBoundNames = {"free", "compute", "memory", "overhead"};

// The six keys, in the order of the text form.
template <typename JsonType>
JsonType makeJson(const EstimatorResult& result) {
  JsonType json = JsonType::object();
  json["success"] = result.success;
  json["runtime_estimate"] = result.runtime ? JsonType(*result.runtime) : JsonType(nullptr);
  json["metadata"] = result.metadata;
  json["module_file"] = result.moduleFile;
  json["module_idx"] = result.moduleIndex;
  json["statistics"] = result.statistics;
  return json;
}

constexpr std::array<const char*, 6> kKeys = {"success",     "runtime_estimate", "metadata",
                                              "module_file", "module_idx",       "statistics"};

void checkKeys(const Json& json) {
  if (!json.is_object())
    throw UsageError("an estimator result is an object, not " + std::string(json.type_name()));
  for (const char* key : kKeys)
    if (!json.contains(key))
      throw UsageError("the key '" + std::string(key) + "' is missing", "/" + std::string(key));
  for (const auto& [key, value] : json.items())
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
      throw UsageError("there is no key '" + key + "'", "/" + key);
}

const Json& member(const Json& json, const char* key, bool (*accepts)(const Json&),
                   const char* expected) {
  const Json& value = json.at(key);
  if (!accepts(value))
    throw UsageError("'" + std::string(key) + "' is " + expected + ", not " + value.type_name(),
                     "/" + std::string(key));
  return value;
}

bool isBool(const Json& value) {
  return value.is_boolean();
}
bool isNumberOrNull(const Json& value) {
  return value.is_number() || value.is_null();
}
bool isObjectOrNull(const Json& value) {
  return value.is_object() || value.is_null();
}
bool isText(const Json& value) {
  return value.is_string();
}
bool isIndex(const Json& value) {
  return value.is_number_unsigned() || (value.is_number_integer() && value.get<int64_t>() >= 0);
}

} // namespace

std::string_view toString(Bound bound) {
  return kBoundNames.at(static_cast<size_t>(bound));
}

Json toJson(const EstimatorResult& result) {
  return makeJson<Json>(result);
}

std::string toJsonText(const EstimatorResult& result, int indent) {
  // Replacing bytes that are no UTF-8: a file name may have any, and must not cost the result.
  return makeJson<nlohmann::ordered_json>(result).dump(
      indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

EstimatorResult estimatorResultFromJson(const Json& json) {
  checkKeys(json);
  EstimatorResult result;
  result.success = member(json, "success", isBool, "a boolean").get<bool>();
  const Json& runtime = member(json, "runtime_estimate", isNumberOrNull, "a number or null");
  if (!runtime.is_null())
    result.runtime = runtime.get<double>();
  result.metadata = member(json, "metadata", isObjectOrNull, "an object or null");
  result.moduleFile = member(json, "module_file", isText, "a string").get<std::string>();
  result.moduleIndex = member(json, "module_idx", isIndex, "an index").get<uint64_t>();
  result.statistics = member(json, "statistics", isObjectOrNull, "an object or null");
  return result;
}

} // namespace nocturne
