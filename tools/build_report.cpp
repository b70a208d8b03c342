#include "tools/build_report.h"

#include <filesystem>
#include <map>

#include "engine/failure_json.h"
#include "tools/human.h"

namespace nocturne::tools {

namespace {

namespace fs = std::filesystem;

using compiler::BuildReport;
using compiler::BuildState;

constexpr size_t kLongestMessage = 200;

std::string withoutParents(std::string name) {
  while (name.starts_with("../"))
    name.erase(0, 3);
  while (name.starts_with('/'))
    name.erase(0, 1);
  return name;
}

std::string withoutExtension(const std::string& name) {
  return fs::path(name).replace_extension().generic_string();
}

std::string placeOf(const Failure& failure) {
  Failure place = failure;
  place.message.clear();
  std::string text = place.text();
  while (text.ends_with(' ') || text.ends_with(':'))
    text.pop_back();
  return text;
}

std::string oneLine(std::string text) {
  for (char& c : text)
    if (c == '\n')
      c = ' ';
  return shortened(text, kLongestMessage);
}

OrderedJson moduleJson(const ModuleFile& module, const BuildReport& report) {
  OrderedJson json;
  json["module"] = module.name;
  json["state"] = compiler::toString(report.state);
  json["seconds"] = report.seconds;
  const bool has = report.succeeded();
  json["library"] = has ? OrderedJson(report.outcome.link) : OrderedJson();
  json["folder"] = has ? OrderedJson(report.outcome.folder) : OrderedJson();
  json["key"] = has ? OrderedJson(report.outcome.key.hex()) : OrderedJson();
  json["failure"] = report.failure ? OrderedJson(*report.failure) : OrderedJson();
  return json;
}

std::string failuresText(const std::vector<ModuleFile>& modules,
                         const std::vector<BuildReport>& reports) {
  TextTable table({{"module"}, {"failure"}, {"place"}, {"message"}});
  for (size_t i = 0; i < reports.size(); ++i) {
    if (reports[i].state != BuildState::Failed || !reports[i].failure)
      continue;
    const Failure& failure = *reports[i].failure;
    table.row({modules[i].name, std::string(toString(failure.kind)), placeOf(failure),
               oneLine(failure.message)});
  }
  return table.rowCount() > 0 ? table.text() : "";
}

std::string countsText(const compiler::BatchProgress& progress) {
  std::string text =
      withCommas(progress.total) + (progress.total == 1 ? " module: " : " modules: ");
  text += withCommas(progress.built) + " built, " + withCommas(progress.reused) + " reused";
  if (progress.failed > 0)
    text += ", " + withCommas(progress.failed) + " failed";
  if (progress.cancelled > 0)
    text += ", " + withCommas(progress.cancelled) + " not built";
  return text + ", in " + humanTime(progress.seconds) + '\n';
}

} // namespace

std::vector<std::string> buildFolders(const std::vector<ModuleFile>& modules,
                                      const std::string& outputDir) {
  if (outputDir.empty()) // "/name" is a folder, but not one that was asked for
    throw UsageError("build: --out is empty; it names the folder for the libraries");
  std::map<std::string, size_t> users;
  for (const ModuleFile& module : modules)
    ++users[withoutExtension(withoutParents(module.name))];
  std::map<std::string, const ModuleFile*> owners;
  std::vector<std::string> folders;
  for (const ModuleFile& module : modules) {
    const std::string whole = withoutParents(module.name);
    const std::string shorter = withoutExtension(whole);
    const std::string& name = users.at(shorter) == 1 ? shorter : whole;
    const auto [owner, isFirst] = owners.emplace(name, &module);
    if (!isFirst)
      throw UsageError("build: " + owner->second->name + " and " + module.name +
                       " would both be built in " + outputDir + '/' + name +
                       "; build them with two --out");
    folders.push_back(outputDir + '/' + name);
  }
  return folders;
}

Progress progressOf(const compiler::BatchProgress& now) {
  return {now.finished - now.cancelled, now.total, now.failed, now.reused, now.seconds};
}

OrderedJson toJson(const std::vector<ModuleFile>& modules, const compiler::BatchResult& result) {
  OrderedJson json;
  json["modules"] = OrderedJson::array();
  for (size_t i = 0; i < modules.size(); ++i)
    json["modules"].push_back(moduleJson(modules[i], result.reports[i]));
  json["built"] = result.progress.built;
  json["reused"] = result.progress.reused;
  json["failed"] = result.progress.failed;
  json["cancelled"] = result.progress.cancelled;
  json["seconds"] = result.progress.seconds;
  return json;
}

std::string toText(const std::vector<ModuleFile>& modules, const compiler::BatchResult& result,
                   bool quiet) {
  std::string text = failuresText(modules, result.reports);
  return quiet ? text : text + countsText(result.progress);
}

} // namespace nocturne::tools
