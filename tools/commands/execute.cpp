// nocturne execute
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <thread>

#include "compiler/execution/program.h"
#include "engine/error.h"
#include "engine/file_bytes.h"
#include "engine/module_patterns.h"
#include "engine/number_text.h"
#include "engine/subprocess.h"
#include "engine/temporary_folder.h"
#include "storage/atomic_file.h"
#include "tools/commands.h"
#include "tools/exit_codes.h"
#include "tools/human.h"
#include "tools/line_workers.h"
#include "tools/report/summary_json.h"

namespace nocturne::tools {

namespace {

using compiler::Outcome;
using compiler::ProgramReport;
using compiler::toString;

// What a worker says of one program, and what --json says of it.
struct Row {
  OrderedJson json;
  Outcome outcome = Outcome::Failed;
};

Outcome outcomeFromText(const std::string& text) {
  for (size_t i = 0; i < compiler::kOutcomes; ++i)
    if (toString(Outcome(i)) == text)
      return Outcome(i);
  return Outcome::Failed;
}

bool isGood(Outcome outcome) {
  return outcome == Outcome::Pass || outcome == Outcome::Ran;
}

// The worker's side.

// "add_float32" of "data/add_float32.mlir".
std::string stem(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  return name.substr(0, name.find_last_of('.'));
}

OrderedJson resultJson(const compiler::TensorData& result, const ExecuteArguments& arguments,
                       const std::string& path, size_t index) {
  constexpr size_t kSummary = 8;
  OrderedJson json;
  json["type"] = result.typeText();
  json["text"] = arguments.print == "statistics"
                     ? result.statisticsText()
                     : result.text(arguments.print == "full" ? 0 : kSummary);
  if (arguments.outputDir.empty())
    return json;
  std::string file = arguments.outputDir + '/' + stem(path) + '.' + std::to_string(index) + ".npy";
  writeFileAtomically(file, npyBytes(result));
  json["file"] = file;
  return json;
}

OrderedJson reportJson(const std::string& path, const ProgramReport& report,
                       const ExecuteArguments& arguments) {
  OrderedJson json;
  json["path"] = path;
  json["outcome"] = toString(report.outcome);
  json["message"] = report.message;
  json["blocked_by"] = report.blockedBy;
  json["operations"] = report.operations;
  json["times"] = OrderedJson::object();
  for (const compiler::StageTime& time : report.times)
    json["times"][time.name] = time.seconds;
  json["results"] = OrderedJson::array();
  for (size_t i = 0; i < report.results.size(); ++i)
    json["results"].push_back(resultJson(report.results[i], arguments, path, i));
  return json;
}

// "add.1-linalg.mlir", ..., "add.5-ll.ll".
void writeStages(const std::string& path, const ProgramReport& report,
                 const ExecuteArguments& arguments) {
  size_t number = 0;
  for (const auto& [name, text] : report.stages)
    writeFileAtomically(arguments.irDir + '/' + stem(path) + '.' + std::to_string(++number) + '-' +
                            name + (name == "ll" ? ".ll" : ".mlir"),
                        text);
}

OrderedJson execute(const std::string& path, const compiler::ProgramOptions& options,
                    const ExecuteArguments& arguments) {
  ProgramReport report;
  try {
    report = compiler::runProgramText(readFile(path), path, options);
  } catch (const ItemError& error) {
    report.outcome =
        error.failure().kind == FailureKind::Unreadable ? Outcome::Unreadable : Outcome::Failed;
    report.message = error.failure().text();
  } catch (const std::exception& error) {
    report.message = error.what();
  }
  try {
    writeStages(path, report, arguments);
    return reportJson(path, report, arguments);
  } catch (const StorageError& error) {
    report.results.clear();
    report.outcome = Outcome::Failed;
    report.message = error.what();
    return reportJson(path, report, arguments);
  }
}

// Answers each path on standard input, up to a zero byte, with one line of JSON.
int work(const ExecuteArguments& arguments, Session& session) {
  compiler::ProgramOptions options;
  options.compile.target = compiler::cpuTarget(arguments.cpu);
  options.compile.level = unsigned(arguments.level);
  options.compile.keepStages = !arguments.irDir.empty();
  options.compile.generateWeights = arguments.generateWeights;
  options.inputs = arguments.inputs;
  for (std::string path; std::getline(std::cin, path, '\0');) {
    session.out << execute(path, options, arguments)
                       .dump(-1, ' ', false, OrderedJson::error_handler_t::replace)
                << std::endl; // flushed: the answer is waited for
  }
  return kOk;
}

// The command's side.

std::vector<std::string> workerArguments(const ExecuteArguments& arguments) {
  std::vector<std::string> words = {"execute", "--worker", "--cpu=" + arguments.cpu,
                                    "--opt-level=" + std::to_string(arguments.level),
                                    "--print=" + arguments.print};
  if (arguments.generateWeights)
    words.push_back("--generate-weights");
  if (!arguments.outputDir.empty())
    words.push_back("--output-dir=" + arguments.outputDir);
  if (!arguments.irDir.empty())
    words.push_back("--ir-dir=" + arguments.irDir);
  for (const std::string& input : arguments.inputs)
    words.push_back("--inputs=" + input);
  return words;
}

std::string deathText(const LineAnswer& answer) {
  if (answer.signal != 0)
    return "killed by " + signalName(answer.signal);
  return "the process ended with exit status " + std::to_string(answer.code);
}

Row makeRow(const std::string& path, const LineAnswer& answer, double timeout) {
  Row row;
  if (answer.end == LineAnswer::End::Answered) {
    row.json = OrderedJson::parse(answer.line);
    row.outcome = outcomeFromText(row.json["outcome"]);
    return row;
  }
  ProgramReport report;
  bool died = answer.end == LineAnswer::End::Died;
  report.outcome = died ? Outcome::Crash : Outcome::Timeout;
  report.message = died ? deathText(answer) : "not done within " + shortest(timeout) + " s";
  row.outcome = report.outcome;
  row.json = reportJson(path, report, {});
  return row;
}

void print(const Row& row, const ExecuteArguments& arguments, Session& session) {
  if (isGood(row.outcome) && (arguments.table || session.common.quiet))
    return;
  std::string outcome(toString(row.outcome));
  outcome.resize(std::max<size_t>(outcome.size(), 11), ' ');
  session.out << outcome << "  " << row.json["path"].get<std::string>();
  if (const std::string message = row.json["message"]; !message.empty())
    session.out << ": " << message;
  session.out << '\n';
  for (const OrderedJson& result : row.json["results"])
    if (arguments.print != "none" && row.outcome != Outcome::Pass)
      session.out << "  " << result["text"].get<std::string>() << '\n';
}

using Counts = std::array<size_t, compiler::kOutcomes>;

// A program counts once for each of its operations; one that cannot be compiled counts only for the
// operation that is to blame.
std::map<std::string, Counts> countByOperation(const std::vector<Row>& rows) {
  std::map<std::string, Counts> counts;
  for (const Row& row : rows) {
    const std::string blockedBy = row.json["blocked_by"];
    if (row.outcome == Outcome::NoLowering && !blockedBy.empty()) {
      ++counts[blockedBy][size_t(row.outcome)];
      continue;
    }
    for (const std::string operation : row.json["operations"])
      ++counts[operation][size_t(row.outcome)];
  }
  return counts;
}

Counts countAll(const std::vector<Row>& rows) {
  Counts counts{};
  for (const Row& row : rows)
    ++counts[size_t(row.outcome)];
  return counts;
}

OrderedJson countsJson(const Counts& counts) {
  OrderedJson json = OrderedJson::object();
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0)
      json[std::string(toString(Outcome(i)))] = counts[i];
  return json;
}

std::string tableText(const std::vector<Row>& rows) {
  const Counts all = countAll(rows);
  std::vector<TextTable::Column> columns = {{"operation"}};
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i] > 0)
      columns.push_back({std::string(toString(Outcome(i))), TextTable::Align::Right});
  TextTable table(columns);
  for (const auto& [operation, counts] : countByOperation(rows)) {
    std::vector<std::string> cells = {operation};
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i] > 0)
        cells.push_back(counts[i] > 0 ? std::to_string(counts[i]) : "");
    table.row(cells);
  }
  return table.text();
}

std::string summaryText(const std::vector<Row>& rows) {
  const Counts counts = countAll(rows);
  std::string text;
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0)
      text += (text.empty() ? "" : ", ") + std::to_string(counts[i]) + ' ' +
              std::string(toString(Outcome(i)));
  return std::to_string(rows.size()) + (rows.size() == 1 ? " program: " : " programs: ") + text +
         '\n';
}

OrderedJson runJson(const std::vector<Row>& rows) {
  OrderedJson json;
  json["programs"] = OrderedJson::array();
  for (const Row& row : rows)
    json["programs"].push_back(row.json);
  json["counts"] = countsJson(countAll(rows));
  json["operations"] = OrderedJson::object();
  for (const auto& [operation, counts] : countByOperation(rows))
    json["operations"][operation] = countsJson(counts);
  return json;
}

std::vector<std::string> findPrograms(const std::vector<std::string>& patterns) {
  std::vector<std::string> paths;
  for (const std::string& pattern : patterns)
    for (const ModuleFile& file : expandPattern(pattern, "."))
      paths.push_back(file.path);
  return paths;
}

// Before any program is compiled: a mistake is told once, not by every program.
void checkArguments(const ExecuteArguments& arguments) {
  compiler::cpuTarget(arguments.cpu);
  for (const std::string& input : arguments.inputs)
    if (input.empty())
      throw UsageError("execute: --inputs: one of the inputs is empty");
  if (!arguments.outputDir.empty())
    makeDirectories(arguments.outputDir);
  if (!arguments.irDir.empty())
    makeDirectories(arguments.irDir);
}

// Of all programs, or of those that were done before a stop; in the order of the files, in which
// they are also printed.
std::vector<Row> executeAll(const std::vector<std::string>& paths,
                            const ExecuteArguments& arguments, Session& session) {
  LineWorkOptions options;
  options.processes = size_t(arguments.jobs.value_or(int(std::thread::hardware_concurrency())));
  options.timeout = std::chrono::milliseconds(int64_t(arguments.timeout * 1000));
  options.stop = session.stop;
  // Of all workers, so that what they leave when they are killed goes with it.
  const TemporaryFolder scratch;
  ::setenv("TMPDIR", scratch.path().c_str(), 1);
  std::vector<std::optional<Row>> done(paths.size());
  std::vector<Row> rows;
  size_t next = 0;
  const auto take = [&](const Row& row) {
    rows.push_back(row);
    if (!session.common.json)
      print(row, arguments, session);
  };
  answerLines(workerArguments(arguments), paths, options,
              [&](size_t index, const LineAnswer& answer) {
                done[index] = makeRow(paths[index], answer, arguments.timeout);
                for (; next < done.size() && done[next]; ++next)
                  take(*done[next]);
                session.out.flush();
                return true;
              });
  for (; next < done.size(); ++next)
    if (done[next])
      take(*done[next]);
  return rows;
}

int exitCode(const std::vector<Row>& rows, size_t programs, const Session& session) {
  if (rows.size() < programs)
    return session.signal() == SIGTERM ? kTerminated : kInterrupted;
  const bool good =
      std::all_of(rows.begin(), rows.end(), [](const Row& row) { return isGood(row.outcome); });
  return good ? kOk : kFailedItems;
}

} // namespace

int execute(const ExecuteArguments& arguments, Session& session) {
  if (arguments.worker)
    return work(arguments, session);
  const std::vector<std::string> paths = findPrograms(arguments.paths);
  checkArguments(arguments);
  const std::vector<Row> rows = executeAll(paths, arguments, session);
  if (session.common.json) {
    session.out << indentedText(runJson(rows));
  } else {
    if (arguments.table)
      session.out << tableText(rows);
    if (!session.common.quiet && (arguments.table || paths.size() > 1))
      session.out << summaryText(rows);
  }
  return exitCode(rows, paths.size(), session);
}

} // namespace nocturne::tools
