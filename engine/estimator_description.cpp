#include "engine/estimator_description.h"

#include "engine/json_text.h"

namespace nocturne {

namespace {

Json toJson(const ConfigOption& option) {
  const option::Kind kind = option::kindOf(option.postValidate ? nullptr : option.validate);
  Json json = {{"name", option.name},
               {"kind", kind.name},
               {"default", option.defaultValue},
               {"optional", option.optional},
               {"top_level", option.topLevel},
               {"influences_result", option.influencesResult},
               {"from_hardware", option.hardwareKey},
               {"help", option.help}};
  if (!kind.values.empty())
    json["values"] = kind.values;
  return json;
}

Json toJson(const OptionSchema& schema) {
  Json json = {{"options", Json::array()}, {"bases", Json::object()}};
  for (const ConfigOption& option : schema.options)
    json["options"].push_back(toJson(option));
  for (const auto& [name, nested] : schema.nested)
    json["bases"][name] = toJson(nested);
  return json;
}

const Json& member(const Json& object, const char* key, const std::string& pointer) {
  if (!object.is_object())
    throw UsageError("expected an object, not " + excerpt(object), pointer);
  const auto place = object.find(key);
  if (place == object.end())
    throw UsageError(std::string("there is no \"") + key + '"', pointer);
  return *place;
}

// A member of the type that it is read into.
template <typename T>
T read(const Json& object, const char* key, const std::string& pointer) {
  const Json& value = member(object, key, pointer);
  try {
    return value.get<T>();
  } catch (const Json::exception&) {
    throw UsageError("a value of another type was expected, not " + excerpt(value),
                     childPointer(pointer, key));
  }
}

ConfigOption optionFromJson(const Json& json, const std::string& pointer) {
  ConfigOption option;
  option.name = read<std::string>(json, "name", pointer);
  option::Kind kind{read<std::string>(json, "kind", pointer), {}};
  if (json.contains("values"))
    kind.values = read<std::vector<std::string>>(json, "values", pointer);
  option.validate = atPointer(childPointer(pointer, "kind"), [&] { return option::ofKind(kind); });
  option.defaultValue = member(json, "default", pointer);
  option.optional = read<bool>(json, "optional", pointer);
  option.topLevel = read<bool>(json, "top_level", pointer);
  option.influencesResult = read<bool>(json, "influences_result", pointer);
  option.hardwareKey = read<std::string>(json, "from_hardware", pointer);
  option.help = read<std::string>(json, "help", pointer);
  return option;
}

constexpr int kDeepest = 64; // bases of bases

OptionSchema schemaFromJson(const Json& json, const std::string& pointer, int depth) {
  if (depth > kDeepest)
    throw UsageError("bases are nested too deeply", pointer);
  OptionSchema schema;
  const Json& options = member(json, "options", pointer);
  if (!options.is_array())
    throw UsageError("expected an array, not " + excerpt(options),
                     childPointer(pointer, "options"));
  for (size_t i = 0; i < options.size(); ++i)
    schema.options.push_back(
        optionFromJson(options[i], childPointer(childPointer(pointer, "options"), i)));
  const std::string basesAt = childPointer(pointer, "bases");
  const Json& bases = member(json, "bases", pointer);
  if (!bases.is_object())
    throw UsageError("expected an object, not " + excerpt(bases), basesAt);
  for (const auto& [name, nested] : bases.items())
    schema.nested.emplace(name, schemaFromJson(nested, childPointer(basesAt, name), depth + 1));
  return schema;
}

} // namespace

Json toJson(const EstimatorDescription& description) {
  Json versions = Json::array();
  for (const auto& [name, version] : description.versions)
    versions.push_back({name, version});
  return {{"name", description.name},
          {"help", description.help},
          {"versions", versions},
          {"schema", toJson(description.options)},
          {"whole_module", description.wholeModule},
          {"allow_multiprocess", description.allowMultiprocess},
          {"hooks_see_hits", description.hooksSeeHits},
          {"unavailable", description.unavailable},
          {"unavailability_is_final", description.unavailabilityIsFinal},
          {"environment", description.environment}};
}

EstimatorDescription estimatorDescriptionFromJson(const Json& json) {
  EstimatorDescription out;
  out.name = read<std::string>(json, "name", "");
  out.help = read<std::string>(json, "help", "");
  out.versions = read<std::vector<std::pair<std::string, uint32_t>>>(json, "versions", "");
  out.options = schemaFromJson(member(json, "schema", ""), "/schema", 0);
  out.wholeModule = read<bool>(json, "whole_module", "");
  out.allowMultiprocess = read<bool>(json, "allow_multiprocess", "");
  out.hooksSeeHits = read<bool>(json, "hooks_see_hits", "");
  out.unavailable = read<std::string>(json, "unavailable", "");
  out.unavailabilityIsFinal = read<bool>(json, "unavailability_is_final", "");
  out.environment = read<std::string>(json, "environment", "");
  return out;
}

} // namespace nocturne
