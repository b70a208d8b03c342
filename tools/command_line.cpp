// The only file that knows CLI11.
#include "tools/command_line.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include <CLI/CLI.hpp>

#include "compiler/execution/measure_protocol.h"
#include "engine/options.h"
#include "tools/commands.h"
#include "tools/human.h"
#include "tools/logging.h"
#include "tools/version.h"

namespace nocturne::tools {

namespace {

using Run = std::function<int(Session&)>;

// One subcommand: `declare` adds its options and returns what calls it once they are parsed.
struct Command {
  const char* name;
  const char* help;
  std::string_view stopping, stopped; // see Invocation
  Run (*declare)(CLI::App& app);
};

void addList(CLI::App& app, const std::string& name, std::vector<std::string>& values,
             const std::string& help) {
  app.add_option(name, values, help)->delimiter(',')->allow_extra_args(false)->type_name("A,B");
}

// CLI::Range takes what is no number: it is neither too small nor too large.
CLI::Validator inSeconds(double least) {
  const CLI::Range range(least, 1e6);
  const auto check = [range](const std::string& text) {
    double value = 0;
    const bool isNan = CLI::detail::lexical_cast(text, value) && std::isnan(value);
    return isNan ? "\"" + text + "\" is no time" : range(text);
  };
  return {check, range.get_description()};
}

void addPlugins(CLI::App& app, std::vector<std::string>& plugins) {
  app.add_option("--plugin", plugins, "Shared library with estimators; repeatable")
      ->allow_extra_args(false)
      ->type_name("FILE");
}

void addSettings(CLI::App& app, std::vector<std::string>& settings) {
  app.add_option("--set", settings,
                 "A value of the machines or an option of the estimators; repeatable")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
}

void addAssumptions(CLI::App& app, AssumeArguments& assume) {
  app.add_option("--entry", assume.entry, "Function to start from, instead of main")
      ->type_name("NAME");
  app.add_option("--trip-count", assume.tripCount,
                 "Trips of loops whose count cannot be derived (default 1)")
      ->type_name("N");
  app.add_option("--branch", assume.branch,
                 "Branch of an if or case: largest (default), first or mean")
      ->type_name("WHICH");
}

Run declareSweep(CLI::App& app) {
  auto given = std::make_shared<SweepArguments>();
  app.add_option("paths", given->paths,
                 "A specification (one .json file), or modules: files, folders and patterns")
      ->required();
  addList(app, "--hardware", given->hardware, "Machines: presets or files, separated by commas");
  addList(app, "--estimator", given->estimators,
          "Estimators, separated by commas (default roofline)");
  addPlugins(app, given->plugins);
  addSettings(app, given->settings);
  app.add_option("--jobs", given->jobs, "Modules worked on at a time (default: one per processor)")
      ->type_name("N");
  app.add_flag("--dry-run", given->dryRun, "Print the plan and touch nothing");
  app.add_option("--out", given->outputDir, "Folder for results (default out)")->type_name("DIR");
  app.add_option("--cache-dir", given->cacheDir,
                 "Folder of the result cache (default cache in that folder)")
      ->type_name("DIR");
  app.add_flag("--disable-cache", given->disableCache, "Neither read nor write a cache");
  app.add_flag("--in-memory-only-cache", given->inMemoryOnlyCache, "Leave no cache file");
  app.add_flag("--fail-fast", given->failFast, "Stop at the first failed item");
  addAssumptions(app, given->assume);
  return [given](Session& session) { return sweep(*given, session); };
}

Run declareEstimate(CLI::App& app) {
  auto given = std::make_shared<EstimateArguments>();
  app.add_option("file", given->file, "The module")->required();
  app.add_option("--hardware", given->hardware, "Machine: a preset or a file")->required();
  app.add_option("--estimator", given->estimator, "Estimator (default roofline)");
  addPlugins(app, given->plugins);
  addSettings(app, given->settings);
  app.add_option("--top", given->top, "Operations to list, 0 for all (default 20)")->type_name("N");
  app.add_option("--trace", given->trace, "File for a timeline that Perfetto opens")
      ->type_name("FILE");
  addAssumptions(app, given->assume);
  return [given](Session& session) { return estimate(*given, session); };
}

Run declareRun(CLI::App& app) {
  auto given = std::make_shared<RunArguments>();
  app.add_option("estimator", given->estimator, "Estimator; the configuration file's when absent");
  app.add_option("--config-file", given->configFile, "Configuration file of hespas")
      ->type_name("FILE");
  app.add_option("--mlir-file", given->mlirFile, "The module, instead of the configuration's")
      ->type_name("FILE");
  app.add_option("--events", given->events, "File for the estimator's events, a counter stream")
      ->type_name("FILE");
  app.add_flag("--hespas-numbers", given->hespasNumbers,
               "The method roofline is roofline_hespas, which has the numbers of hespas");
  addPlugins(app, given->plugins);
  app.allow_extras();
  app.callback([given, &app] { given->options = app.remaining(); });
  app.footer("Each option of the estimator is an option here, as --roofline-peak-flops=1e15;\n"
             "nocturne estimators lists them.");
  return [given](Session& session) { return run(*given, session); };
}

Run declareHardware(CLI::App& app) {
  auto given = std::make_shared<HardwareArguments>();
  app.require_subcommand(1);
  app.fallthrough(false);
  app.add_subcommand("list", "All presets");
  CLI::App* show = app.add_subcommand("show", "One machine, with its sources");
  show->add_option("name", given->show, "A preset or a file")->required();
  return [given](Session& session) { return hardware(*given, session); };
}

Run declareEstimators(CLI::App& app) {
  auto given = std::make_shared<EstimatorsArguments>();
  addPlugins(app, given->plugins);
  return [given](Session& session) { return estimators(*given, session); };
}

Run declareReport(CLI::App& app) {
  auto given = std::make_shared<ReportArguments>();
  app.add_option("directory", given->directory, "Output folder of a sweep")->required();
  return [given](Session& session) { return report(*given, session); };
}

Run declareExecute(CLI::App& app) {
  auto given = std::make_shared<ExecuteArguments>();
  CLI::Option* paths =
      app.add_option("paths", given->paths, "Modules: files, folders and patterns")->required();
  app.add_option(
         "--inputs", given->inputs,
         "What goes in: random[:SEED[:SCALE]] (SCALE is the standard deviation of reals), zeros, "
         "ones or NumPy files, one for all inputs or one for each; repeatable")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("A,B");
  app.add_flag("--generate-weights", given->generateWeights,
               "Make up the constants whose values the text leaves out");
  app.add_flag("--table", given->table, "Counts by operation; passing programs are not listed");
  app.add_option(
         "--print", given->print,
         "Results: summary (default: the first elements), full, statistics (range, mean, what is "
         "not finite, digest of the bits) or none")
      ->check(CLI::IsMember({"summary", "full", "statistics", "none"}))
      ->type_name("HOW");
  app.add_option("--output-dir", given->outputDir, "Folder for results as NumPy files")
      ->type_name("DIR");
  app.add_option("--ir-dir", given->irDir, "Folder for the intermediate forms of each program")
      ->type_name("DIR");
  app.add_option("--cpu", given->cpu, "Processor: native (default), x86-64-v3, skylake-avx512, ...")
      ->type_name("NAME");
  app.add_option("--opt-level", given->level, "Optimisation, 0 to 3 (default)")
      ->check(CLI::Range(0, 3))
      ->type_name("N");
  app.add_option("--timeout", given->timeout, "Seconds that one program may take (default 60)")
      ->check(inSeconds(0.001))
      ->type_name("S");
  app.add_option("--jobs", given->jobs, "Programs run at a time (default: one per processor)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  app.add_flag_callback("--worker",
                        [given, paths] { // what execute starts itself
                          given->worker = true;
                          paths->required(false);
                        })
      ->group("");
  return [given](Session& session) { return execute(*given, session); };
}

Run declareBuild(CLI::App& app) {
  auto given = std::make_shared<BuildArguments>();
  app.add_option("paths", given->paths, "Modules: files, folders and patterns")->required();
  app.add_option("--out", given->outputDir,
                 "Folder for the libraries; each module has a folder of its name in it")
      ->required()
      ->type_name("DIR");
  app.add_option("--target", given->target,
                 "What for: cpu (default), \"cpu --arch=native\", \"cpu --arch=x86-64-v4\", ...")
      ->type_name("T");
  app.add_option("--kind", given->kind, "so (default), a shared library, or o, an object file")
      ->check(CLI::IsMember({"so", "o"}))
      ->type_name("KIND");
  app.add_option("--opt-level", given->level, "Optimisation, 0 to 3 (default)")
      ->check(CLI::Range(0, 3))
      ->type_name("N");
  app.add_option("--jobs", given->jobs, "Modules built at a time (default: one per processor)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  app.add_option("--deadline", given->deadline,
                 "Seconds that one module may take (default 600, 0 for no end)")
      ->check(inSeconds(0))
      ->type_name("S");
  app.add_flag("--force", given->force, "Build what is built already");
  app.add_flag("--keep-ir", given->keepIr, "Keep the intermediate forms beside the library");
  app.add_flag("--generate-weights", given->generateWeights,
               "Make up the constants whose values the text leaves out");
  app.add_flag("--in-process", given->inProcess,
               "Build in this process, which a module that crashes the compiler ends");
  return [given](Session& session) { return build(*given, session); };
}

Run declareWorker(CLI::App& app) {
  auto given = std::make_shared<WorkerArguments>();
  app.group(""); // nobody types it
  app.add_option("--connect", given->connect, "Where work comes from")
      ->required()
      ->type_name("127.0.0.1:PORT");
  return [given](Session& session) { return worker(*given, session); };
}

Run declareMeasureModule(CLI::App& app) {
  app.group(""); // the program itself calls it
  return [](Session& session) { return measureModule(session); };
}

Run declareTune(CLI::App& app) {
  auto given = std::make_shared<TuneArguments>();
  app.add_option("task", given->path, "A task (.json), or a module")->required();
  app.add_option("--target", given->target,
                 "What for: \"cpu --arch=native\" (default), \"cpu --arch=x86-64-v4\", cuda, ...")
      ->type_name("T");
  app.add_option("--cache", given->cacheDir,
                 "Folder of what is built and measured (default nocturne in the user's cache)")
      ->type_name("DIR");
  app.add_option("--entry", given->entry, "Function to tune, when the module has several")
      ->type_name("NAME");
  app.add_option("--search-space", given->searchSpace,
                 "Candidates beside the task's: 0 for the usual way, 1 (default) for a few more, "
                 "2 for all that are known")
      ->check(CLI::Range(0, 2))
      ->type_name("N");
  app.add_option("--repetitions", given->repetitions, "Samples of each candidate (default 31)")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N");
  app.add_option("--timeout", given->timeout,
                 "Seconds that running one candidate may take (default 120)")
      ->check(inSeconds(0.001))
      ->type_name("S");
  app.add_option("--jobs", given->jobs, "Candidates built at a time (default: one per processor)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  app.add_flag("--force", given->force, "Build and measure again");
  app.add_flag("--worker", given->worker)->group(""); // what tune starts itself
  return [given](Session& session) { return tune(*given, session); };
}

constexpr std::array<Command, 11> kCommands = {{
    {"sweep", "Estimate many modules on many machines", "stopping: what is in work has 5 s to end",
     "stopped at once: what is committed is safe, and the same command goes on from there",
     declareSweep},
    {"estimate", "Estimate one module on one machine, operation by operation", "", "",
     declareEstimate},
    {"run", "Estimate one module as a configuration of hespas says", "", "", declareRun},
    {"execute", "Compile programs for this processor, run them and check their results",
     "stopping what is in work", "stopped at once", declareExecute},
    {"build", "Compile modules to libraries, each once", "stopping: builds in work have 5 s to end",
     "stopped at once: what is built stays, and the same command builds the rest", declareBuild},
    {"worker", "Build for another nocturne process", "", "", declareWorker},
    {"tune", "Find the fastest of several ways to compute a module", "stopping what is in work",
     "stopped at once: what is built stays", declareTune},
    {"hardware", "Machines that are known", "", "", declareHardware},
    {"estimators", "Estimators that are known, with their options", "", "", declareEstimators},
    {"report", "Make the result files of a sweep again, finished or not", "", "", declareReport},
    {compiler::kMeasureCommand, "Measure a module for another process", "", "",
     declareMeasureModule},
}};

void addCommon(CLI::App& app, CommonArguments& common) {
  app.add_flag("--json", common.json, "Print exactly one JSON value on standard output");
  app.add_flag("--quiet", common.quiet, "No progress and no summary");
  app.add_option("--log-level", common.logLevel,
                 "trace, debug, info, warn (default), error, critical or off")
      ->check([](const std::string& level) {
        const auto& levels = logLevels();
        return std::find(levels.begin(), levels.end(), level) != levels.end()
                   ? std::string()
                   : "there is no level \"" + level + "\"" + didYouMean(level, levels);
      });
}

std::vector<std::string> commandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({}))
    if (!command->get_group().empty()) // that is none for people
      names.push_back(command->get_name());
  return names;
}

std::vector<std::string> optionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options({}))
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

// The innermost command that was named.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

// "sweep: "; nothing for the program itself, whose name every message has.
std::string prefixOf(const CLI::App& app) {
  return app.get_parent() ? app.get_name() + ": " : std::string();
}

// CLI11 only says that a word was not expected; people want to know which one was.
[[noreturn]] void throwUnexpected(const CLI::App& app, const std::string& word) {
  if (!word.starts_with('-')) {
    if (const std::vector<std::string> names = commandNames(app); !names.empty())
      throw UsageError("there is no command \"" + word + "\"" + didYouMean(word, names) +
                       "\nnocturne --help lists them");
    throw UsageError("the argument \"" + word + "\" was not expected");
  }
  const std::string option = word.substr(0, word.find('='));
  throw UsageError(prefixOf(app) + "there is no option \"" + option + "\"" +
                   didYouMean(option, optionNames(app)));
}

void parse(CLI::App& app, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end()); // as CLI11 takes them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::Success&) {
    throw; // --help, --version
  } catch (const CLI::ParseError& error) {
    const CLI::App& command = innermost(app);
    for (const CLI::App* level = &command; level; level = level->get_parent())
      for (const std::string& word : level->remaining())
        throwUnexpected(*level, word);
    if (const std::vector<std::string> names = commandNames(command); !names.empty())
      throw UsageError(prefixOf(command) + "a command is missing: " + joined(names));
    throw UsageError(prefixOf(command) + error.what());
  }
}

} // namespace

Invocation parseCommandLine(const std::vector<std::string>& arguments) {
  Invocation invocation;
  CLI::App app("Says how long StableHLO modules take on machines, and remembers.", "nocturne");
  app.set_version_flag("--version", "nocturne " + std::string(version()));
  app.require_subcommand(1);
  std::array<Run, kCommands.size()> runs;
  std::array<const CLI::App*, kCommands.size()> declared{};
  for (size_t i = 0; i < kCommands.size(); ++i) {
    CLI::App* command = app.add_subcommand(kCommands[i].name, kCommands[i].help);
    runs[i] = kCommands[i].declare(*command);
    declared[i] = command;
    const std::vector<CLI::App*> nested = command->get_subcommands({});
    for (CLI::App* leaf : nested)
      addCommon(*leaf, invocation.common);
    if (nested.empty())
      addCommon(*command, invocation.common);
  }
  try {
    parse(app, arguments);
  } catch (const CLI::CallForVersion& call) {
    invocation.text = std::string(call.what()) + '\n';
    return invocation;
  } catch (const CLI::Success&) {
    invocation.text = app.help(); // of the command that was named
    return invocation;
  }
  for (size_t i = 0; i < kCommands.size(); ++i) {
    if (!declared[i]->parsed())
      continue;
    invocation.run = runs[i];
    invocation.stopping = kCommands[i].stopping;
    invocation.stopped = kCommands[i].stopped;
  }
  return invocation;
}

std::string shellText(const std::vector<std::string>& words) {
  constexpr std::string_view safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "_-./=,:+@%";
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty())
      text += ' ';
    if (!word.empty() && word.find_first_not_of(safe) == std::string::npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word)
      text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

} // namespace nocturne::tools
