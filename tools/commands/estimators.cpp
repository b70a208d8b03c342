// nocturne estimators
#include "tools/commands.h"
#include "tools/exit_codes.h"
#include "tools/human.h"
#include "tools/report/escape.h"
#include "tools/report/summary_json.h"
#include "tools/settings.h"

namespace nocturne::tools {

namespace {

struct PathOption {
  std::string path;
  const ConfigOption* option;
};

void collect(const OptionSchema& schema, const std::string& prefix,
             std::vector<PathOption>& options) {
  for (const ConfigOption& option : schema.options)
    options.push_back({prefix + option.name, &option});
  for (const auto& [name, nested] : schema.nested)
    collect(nested, prefix + name + '.', options);
}

std::string defaultText(const ConfigOption& option) {
  if (!option.hardwareKey.empty())
    return "the machine's " + option.hardwareKey;
  if (!option.defaultValue.is_null())
    return plainText(option.defaultValue);
  return option.optional ? "-" : "required";
}

OrderedJson toJson(const EstimatorDescription& description,
                   const std::vector<PathOption>& options) {
  OrderedJson json;
  json["name"] = description.name;
  json["help"] = description.help;
  json["versions"] = OrderedJson::object();
  for (const auto& [name, number] : description.versions)
    json["versions"][name] = number;
  json["whole_module"] = description.wholeModule;
  json["confined_to_one_actor"] = !description.allowMultiprocess;
  json["unavailable"] =
      description.unavailable.empty() ? OrderedJson() : OrderedJson(description.unavailable);
  json["options"] = OrderedJson::array();
  for (const auto& [path, option] : options)
    json["options"].push_back(
        {{"path", path},
         {"default", OrderedJson(option->defaultValue)},
         {"from_hardware",
          option->hardwareKey.empty() ? OrderedJson() : OrderedJson(option->hardwareKey)},
         {"required", !option->optional && option->defaultValue.is_null()},
         {"influences_result", option->influencesResult},
         {"help", option->help}});
  json["declaration"] = OrderedJson(nocturne::toJson(description));
  return json;
}

void print(const EstimatorDescription& description, const std::vector<PathOption>& options,
           std::ostream& out) {
  out << description.name << ": " << description.help << '\n';
  if (!description.unavailable.empty())
    out << "  cannot run here: " << description.unavailable << '\n';
  if (!description.allowMultiprocess)
    out << "  runs in one actor only\n";
  TextTable table({{"  option"}, {"default"}, {"meaning"}});
  for (const auto& [path, option] : options)
    table.row({"  " + path, defaultText(*option), option->help});
  out << table.text() << '\n';
}

} // namespace

int estimators(const EstimatorsArguments& arguments, Session& session) {
  const PlanInputs inputs(arguments.plugins);
  OrderedJson all = OrderedJson::array();
  for (const EstimatorDescription* description : inputs.registry().all()) {
    std::vector<PathOption> options;
    collect(description->options, "", options);
    if (session.common.json)
      all.push_back(toJson(*description, options));
    else
      print(*description, options, session.out);
  }
  if (session.common.json)
    session.out << indentedText(all);
  return kOk;
}

} // namespace nocturne::tools
