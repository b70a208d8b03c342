#include "engine/options.h"

#include <algorithm>
#include <cstdint>

#include "engine/json_text.h"
#include "engine/number_text.h"
#include "engine/option_lookup.h"

namespace nocturne {

namespace {

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + '.' + name;
}

std::vector<std::string> keysOf(const OptionSchema& schema) {
  std::vector<std::string> keys;
  for (const ConfigOption& option : schema.options)
    keys.push_back(option.name);
  for (const auto& [name, nested] : schema.nested)
    keys.push_back(name);
  return keys;
}

// Walks schema and input side by side; the messages need to know where in both it is.
class Resolver {
public:
  Resolver(const OptionSchema& root, const Json& machine) : root_(root), machine_(machine) {}

  Json resolve(const OptionSchema& schema, const Json& given, const std::string& pointer,
               const std::string& path) {
    checkKeys(schema, given, pointer);
    Json out = Json::object();
    for (const ConfigOption& option : schema.options)
      resolveOption(option, given, pointer, path, out);
    for (const auto& [name, nested] : schema.nested) {
      auto sub = given.find(name);
      Json resolved = resolve(nested, sub == given.end() || sub->is_null() ? kNothing() : *sub,
                              childPointer(pointer, name), joined(path, name));
      out[name] = std::move(resolved);
    }
    return out;
  }

  void reportMissing(const std::string& pointer) const {
    if (missing_.empty())
      return;
    std::string message =
        missing_.size() == 1 ? "a value is needed for " : "values are needed for ";
    for (size_t i = 0; i < missing_.size(); ++i)
      message += (i == 0 ? "" : ", ") + missing_[i];
    throw UsageError(message, pointer);
  }

private:
  static const Json& kNothing() {
    static const Json nothing = Json::object();
    return nothing;
  }

  void checkKeys(const OptionSchema& schema, const Json& given, const std::string& pointer) const {
    if (!given.is_object())
      throw UsageError("expected an object of options, not " + excerpt(given), pointer);
    for (const auto& [key, value] : given.items())
      if (!schema.nested.contains(key) && !isOption(schema, key))
        throw UsageError("there is no option \"" + key + '"' + suggestOption(root_, schema, key),
                         childPointer(pointer, key));
  }

  static bool isOption(const OptionSchema& schema, const std::string& key) {
    return std::any_of(schema.options.begin(), schema.options.end(),
                       [&](const ConfigOption& option) { return option.name == key; });
  }

  void resolveOption(const ConfigOption& option, const Json& given, const std::string& pointer,
                     const std::string& path, Json& out) {
    auto value = given.find(option.name);
    if (value != given.end() && !value->is_null()) {
      out[option.name] =
          atPointer(childPointer(pointer, option.name), [&] { return option.checked(*value); });
      return;
    }
    if (const Json* fromMachine = machineValue(option)) {
      out[option.name] = validated(option, *fromMachine, "the machine's " + option.hardwareKey);
      return;
    }
    if (!option.defaultValue.is_null())
      out[option.name] =
          validated(option, option.defaultValue, "the default of " + joined(path, option.name));
    else if (!option.optional)
      missing_.push_back(joined(path, option.name) +
                         (option.hardwareKey.empty() || !machine_.is_object()
                              ? ""
                              : " (or for " + option.hardwareKey + " of the machine)"));
  }

  const Json* machineValue(const ConfigOption& option) const {
    if (option.hardwareKey.empty() || !machine_.is_object())
      return nullptr;
    auto value = machine_.find(option.hardwareKey);
    return value == machine_.end() || value->is_null() ? nullptr : &*value;
  }

  static Json validated(const ConfigOption& option, const Json& value, const std::string& what) {
    try {
      return option.checked(value);
    } catch (const UsageError& error) {
      throw UsageError(what + ": " + error.what());
    }
  }

  const OptionSchema& root_;
  const Json& machine_;
  std::vector<std::string> missing_;
};

bool isPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

void appendText(std::string& out, std::string_view text) {
  if (isPlain(text)) { // nearly always, and much faster
    out += '"';
    out += text;
    out += '"';
    return;
  }
  // File names may be no UTF-8; that is no reason to throw.
  out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void appendNumber(std::string& out, const Json& value) {
  if (value.is_number_unsigned())
    out += std::to_string(value.get<uint64_t>());
  else if (value.is_number_integer())
    out += std::to_string(value.get<int64_t>());
  else
    appendShortest(out, value.get<double>());
}

void appendCanonical(std::string& out, const Json& value) {
  char separator = '{';
  switch (value.type()) {
  case Json::value_t::object:
    for (const auto& [key, entry] : value.items()) {
      out += separator;
      separator = ',';
      appendText(out, key);
      out += ':';
      appendCanonical(out, entry);
    }
    out += value.empty() ? "{}" : "}";
    break;
  case Json::value_t::array:
    separator = '[';
    for (const Json& entry : value) {
      out += separator;
      separator = ',';
      appendCanonical(out, entry);
    }
    out += value.empty() ? "[]" : "]";
    break;
  case Json::value_t::string:
    appendText(out, value.get_ref<const std::string&>());
    break;
  case Json::value_t::number_integer:
  case Json::value_t::number_unsigned:
  case Json::value_t::number_float:
    appendNumber(out, value);
    break;
  default:
    out += value.dump();
  }
}

void appendInfluencing(std::string& out, const OptionSchema& schema, const Json& resolved) {
  std::map<std::string_view, const OptionSchema*> kept;
  for (const ConfigOption& option : schema.options)
    if (option.influencesResult)
      kept.emplace(option.name, nullptr);
  for (const auto& [name, nested] : schema.nested)
    kept.emplace(name, &nested);
  char separator = '{';
  for (const auto& [name, nested] : kept) {
    auto value = resolved.find(name);
    if (value == resolved.end())
      continue;
    out += separator;
    separator = ',';
    appendText(out, name);
    out += ':';
    if (nested)
      appendInfluencing(out, *nested, *value);
    else
      appendCanonical(out, *value);
  }
  out += separator == '{' ? "{}" : "}";
}

void collectPaths(const OptionSchema& schema, const std::string& prefix,
                  std::vector<std::string>& out) {
  for (const ConfigOption& option : schema.options)
    out.push_back(joined(prefix, option.name));
  for (const auto& [name, nested] : schema.nested)
    collectPaths(nested, joined(prefix, name), out);
}

} // namespace

Json resolveOptions(const OptionSchema& schema, const Json& given, const Json& machine,
                    const std::string& pointer) {
  Resolver resolver(schema, machine);
  Json resolved = resolver.resolve(schema, given.is_null() ? Json::object() : given, pointer, "");
  resolver.reportMissing(pointer);
  return resolved;
}

std::string influencingText(const OptionSchema& schema, const Json& resolved) {
  std::string out;
  appendInfluencing(out, schema, resolved);
  return out;
}

std::string canonicalJson(const Json& value) {
  std::string out;
  appendCanonical(out, value);
  return out;
}

void setAtPath(Json& object, std::string_view path, const Json& value) {
  Json* place = &object;
  for (;;) {
    size_t dot = path.find('.');
    std::string key(path.substr(0, dot));
    if (!place->is_object())
      *place = Json::object();
    place = &(*place)[key];
    if (dot == std::string_view::npos)
      break;
    path.remove_prefix(dot + 1);
  }
  *place = value;
}

FoundOption findOption(const OptionSchema& schema, std::string_view path) {
  size_t dot = path.find('.');
  std::string_view head = path.substr(0, dot);
  std::string_view rest = dot == std::string_view::npos ? "" : path.substr(dot + 1);
  for (const ConfigOption& option : schema.options)
    if (option.name == path)
      return {&option, ""};
    else if (option.name == head && !rest.empty())
      return {&option, std::string(rest)};
  auto nested = schema.nested.find(std::string(head));
  return nested == schema.nested.end() ? FoundOption{} : findOption(nested->second, rest);
}

Json checkedValue(const FoundOption& found, const Json& value) {
  if (found.tableKey.empty())
    return found.option->checked(value);
  Json table = Json::object();
  table[found.tableKey] = value;
  Json checked = found.option->checked(table);
  auto entry = checked.find(found.tableKey);
  return entry == checked.end() ? value : *entry;
}

bool hasPath(const OptionSchema& schema, std::string_view path) {
  FoundOption found = findOption(schema, path);
  if (!found.option || found.tableKey.empty())
    return found.option != nullptr;
  // No option says that it is a table; one whose validator takes a table of numbers is.
  try {
    checkedValue(found, 1);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

std::vector<std::string> optionPaths(const OptionSchema& schema) {
  std::vector<std::string> paths;
  collectPaths(schema, "", paths);
  return paths;
}

std::string flatName(std::string_view path) {
  std::string flat(path);
  std::replace(flat.begin(), flat.end(), '.', '_');
  return flat;
}

std::string pathOfFlatName(const OptionSchema& schema, std::string_view name) {
  for (const std::string& path : optionPaths(schema))
    if (path == name || flatName(path) == name)
      return path;
  return {};
}

Json withOverrides(const OptionSchema& schema, Json given, const Json& overrides) {
  if (given.is_null())
    given = Json::object();
  if (overrides.is_null())
    return given;
  if (!given.is_object() || !overrides.is_object())
    throw UsageError("expected an object of options, not " +
                     excerpt(given.is_object() ? overrides : given));
  for (const auto& [name, value] : overrides.items()) {
    const std::string path = pathOfFlatName(schema, name);
    if (path.empty()) {
      std::vector<std::string> names;
      for (const std::string& one : optionPaths(schema))
        names.push_back(flatName(one));
      throw UsageError("there is no option \"" + name + '"' + didYouMean(name, names));
    }
    if (!value.is_null())
      setAtPath(given, path, value);
  }
  return given;
}

std::string suggestOption(const OptionSchema& root, const OptionSchema& level,
                          std::string_view key) {
  std::string nearby = didYouMean(key, keysOf(level));
  if (!nearby.empty())
    return nearby;
  // The right name at the wrong level.
  std::vector<std::string> paths = optionPaths(root);
  for (const std::string& path : paths)
    if (path.ends_with('.' + std::string(key)))
      return "; did you mean \"" + path + "\"?";
  return didYouMean(key, paths);
}

} // namespace nocturne
