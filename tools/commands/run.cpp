// nocturne run
#include <algorithm>

#include "actors/standalone.h"
#include "engine/json_text.h"
#include "storage/atomic_file.h"
#include "tools/commands.h"
#include "tools/estimate_report.h"
#include "tools/exit_codes.h"
#include "tools/hespas_config.h"
#include "tools/human.h"
#include "tools/report/escape.h"
#include "tools/settings.h"

namespace nocturne::tools {

namespace {

// "roofline.peak_flops" is --roofline-peak-flops.
std::string wordOf(const std::string& path) {
  std::string word = flatName(path);
  std::replace(word.begin(), word.end(), '_', '-');
  return "--" + word;
}

// Each option of the estimator by its flat name.
void applyWords(Json& options, const std::vector<std::string>& words,
                const EstimatorDescription& estimator) {
  const std::vector<std::string> paths = optionPaths(estimator.options);
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    const auto path = std::find_if(paths.begin(), paths.end(),
                                   [&](const std::string& one) { return wordOf(one) == name; });
    if (path == paths.end()) {
      std::vector<std::string> names;
      for (const std::string& one : paths)
        names.push_back(wordOf(one));
      throw UsageError("run: estimator " + estimator.name + " has no option \"" + name + '"' +
                       didYouMean(name, names));
    }
    if (equals == std::string::npos && i + 1 == words.size())
      throw UsageError("run: " + name + " needs a value");
    const std::string text = equals == std::string::npos ? words[++i] : words[i].substr(equals + 1);
    Json value = Json::parse(text, nullptr, false);
    setAtPath(options, *path, value.is_discarded() ? Json(text) : value);
  }
}

struct Asked {
  HespasConfig config;
  std::string estimator;
  Json given; // options as they were written
};

Asked whatIsAsked(const RunArguments& arguments, const PlanInputs& inputs) {
  Asked asked;
  if (!arguments.estimator.empty())
    asked.estimator = estimatorForMethod(arguments.estimator, arguments.hespasNumbers);
  if (!arguments.configFile.empty()) {
    asked.config = readHespasConfig(arguments.configFile, asked.estimator, arguments.hespasNumbers);
    asked.estimator = asked.config.method;
  }
  if (asked.estimator.empty())
    throw UsageError("run: name an estimator, or a configuration file that does");
  const EstimatorDescription* description = inputs.registry().find(asked.estimator);
  if (description == nullptr)
    throw UsageError("run: there is no estimator \"" + asked.estimator + '"' +
                     didYouMean(asked.estimator, inputs.sources().estimatorNames));
  if (!arguments.mlirFile.empty())
    asked.config.mlirFile = arguments.mlirFile;
  if (asked.config.mlirFile.empty())
    throw UsageError("run: --mlir-file is missing");
  asked.given = asked.config.hardware;
  applyWords(asked.given, arguments.options, *description);
  try {
    resolveOptions(description->options, asked.given, Json(), "/perf_estimator/hardware");
  } catch (const UsageError& error) {
    if (arguments.configFile.empty())
      throw;
    throw error.inFile(arguments.configFile);
  }
  return asked;
}

void print(const EstimatorResult& result, const Asked& asked, const Estimator& estimator,
           Session& session) {
  if (session.common.json) {
    session.out << toJsonText(result, 2) << '\n';
    return;
  }
  if (session.common.quiet)
    return;
  // Of a result from the cache the instance knows nothing more.
  const std::string statistics =
      result.fromCache ? std::string() : keyStatistics(estimator.getStatistics());
  session.out << asked.config.mlirFile << " by " << asked.estimator << ": "
              << (result.runtime ? humanTime(*result.runtime) : "no time")
              << (result.fromCache ? ", from the cache" : "") << '\n'
              << statistics;
}

// A file that cannot be written, or events that cannot be, are no bug of ours.
void writeEvents(const Estimator& estimator, const std::string& path) {
  try {
    estimator.outputEvents(path);
  } catch (const std::exception& error) {
    throw UsageError("run: --events " + path + ": " + error.what());
  }
}

} // namespace

int run(const RunArguments& arguments, Session& session) {
  const PlanInputs inputs(arguments.plugins);
  const Asked asked = whatIsAsked(arguments, inputs);
  for (const std::string& note : asked.config.notes)
    session.terminal.line("note: " + note);
  const Services services = standalone();
  const std::unique_ptr<Estimator> estimator =
      inputs.registry().make(asked.estimator, asked.given, Json(), services);
  const ModulePtr module = services.reader->read(asked.config.mlirFile);
  const EstimatorResult result = estimator->getEstimate(*module);
  estimator->writeCache();
  for (const std::string& warning : estimator->takeWarnings())
    session.terminal.line("warning: " + warning);
  if (!asked.config.outputDir.empty()) {
    makeDirectories(asked.config.outputDir);
    writeFileAtomically(asked.config.outputDir + "/result.json", toJsonText(result, 4) + '\n');
  }
  if (!arguments.events.empty())
    writeEvents(*estimator, arguments.events);
  print(result, asked, *estimator, session);
  return result.success ? kOk : kFailedItems;
}

} // namespace nocturne::tools
