// nocturne hardware
#include "engine/hardware.h"

#include "tools/commands.h"
#include "tools/exit_codes.h"
#include "tools/human.h"
#include "tools/report/escape.h"
#include "tools/report/summary_json.h"

namespace nocturne::tools {

namespace {

std::string quantity(const Json& values, const char* key, const char* unit) {
  const auto value = values.find(key);
  if (value == values.end() || !value->is_number())
    return "-";
  return humanCount(value->get<double>()) + unit;
}

OrderedJson machineJson(const Machine& machine) {
  OrderedJson json;
  json["name"] = machine.name;
  for (const std::string& key : machineKeys())
    if (const auto value = machine.values.find(key); value != machine.values.end())
      json[key] = OrderedJson(*value);
  for (const auto& [key, value] : machine.values.items())
    if (!json.contains(key))
      json[key] = OrderedJson(value);
  return json;
}

void list(const MachineCatalog& catalog, Session& session) {
  using Align = TextTable::Align;
  TextTable table({{"name"},
                   {"vendor"},
                   {"year"},
                   {"peak FLOP/s", Align::Right},
                   {"of"},
                   {"memory B/s", Align::Right},
                   {"memory B", Align::Right},
                   {"confidence"}});
  OrderedJson machines = OrderedJson::array();
  std::vector<std::string> notes;
  for (const std::string& name : catalog.names()) {
    const Machine machine = catalog.find(name, ".", notes);
    machines.push_back(machineJson(machine));
    const auto plain = [&](const char* key) {
      return machine.values.contains(key) ? plainText(machine.values.at(key)) : std::string("-");
    };
    table.row({name, plain("vendor"), plain("year"), quantity(machine.values, "peak_flops", ""),
               plain("peak_flops_means"), quantity(machine.values, "memory_bandwidth", ""),
               quantity(machine.values, "memory_capacity", ""), plain("confidence")});
  }
  if (session.common.json)
    session.out << machines.dump(2) << '\n';
  else
    session.out << table.text()
                << "Data-sheet peaks; nocturne hardware show NAME has the sources.\n";
}

void show(const MachineCatalog& catalog, const std::string& name, Session& session) {
  std::vector<std::string> notes;
  const OrderedJson json = machineJson(catalog.find(name, ".", notes));
  for (const std::string& note : notes)
    session.terminal.line("note: " + note);
  if (session.common.json) {
    session.out << json.dump(2) << '\n';
    return;
  }
  TextTable table({{"key"}, {"value"}});
  for (const auto& [key, value] : json.items()) {
    if (!value.is_object()) {
      table.row({key, plainText(Json(value))});
      continue;
    }
    for (const auto& [entry, rate] : value.items())
      table.row({key + '.' + entry, plainText(Json(rate))});
  }
  session.out << table.text();
}

} // namespace

int hardware(const HardwareArguments& arguments, Session& session) {
  const MachineCatalog catalog(defaultConfigDirectory());
  if (arguments.show.empty())
    list(catalog, session);
  else
    show(catalog, arguments.show, session);
  return kOk;
}

} // namespace nocturne::tools
