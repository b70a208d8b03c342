// nocturne tune
#include <cerrno>
#include <cstdlib>
#include <memory>

#include <fcntl.h>
#include <unistd.h>

#include "compiler/codegen/module_generator.h"
#include "compiler/tuning/build_task.h"
#include "engine/error.h"
#include "tools/commands.h"
#include "tools/exit_codes.h"
#include "tools/human.h"
#include "tools/report/summary_json.h"

namespace nocturne::tools {

namespace {

using compiler::CandidateRecord;
using compiler::CandidateState;
using compiler::TaskReport;

std::string userCache() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty())
    return cache + "/nocturne";
  if (const std::string home = variable("HOME"); !home.empty())
    return home + "/.cache/nocturne";
  throw UsageError("tune: there is no user's cache; --cache says where to keep what is measured");
}

compiler::TaskOptions optionsOf(const TuneArguments& arguments, const Session& session) {
  compiler::TaskOptions options;
  options.cacheDir = arguments.cacheDir.empty() ? userCache() : arguments.cacheDir;
  options.force = arguments.force;
  options.timing.repetitions = size_t(arguments.repetitions);
  options.jobs = size_t(arguments.jobs.value_or(0));
  options.runTimeout = std::chrono::milliseconds(int64_t(arguments.timeout * 1000));
  options.worker = {"/proc/self/exe", "tune", "--worker"};
  options.stop = session.stop;
  return options;
}

compiler::Task taskOf(const TuneArguments& arguments) {
  compiler::Task task = compiler::readTask(arguments.path);
  if (!arguments.entry.empty())
    task.entry = arguments.entry;
  if (arguments.searchSpace)
    task.searchSpace = compiler::searchSpaceFromNumber(*arguments.searchSpace);
  return task;
}

OrderedJson candidateJson(const CandidateRecord& record) {
  OrderedJson json;
  json["name"] = record.name;
  json["state"] = toString(record.state);
  json["reason"] = record.reason;
  json["build"] = record.build;
  json["blake3"] = record.digest;
  if (record.state != CandidateState::Timed)
    return json;
  json["median_s"] = record.timing.median;
  json["lower_quartile_s"] = record.timing.lower;
  json["upper_quartile_s"] = record.timing.upper;
  json["samples"] = record.timing.samples;
  json["calls_per_sample"] = record.timing.callsPerSample;
  json["interrupted_samples"] = record.timing.interrupted;
  return json;
}

OrderedJson reportJson(const compiler::Task& task, const TaskReport& report) {
  OrderedJson json;
  json["task"] = task.name;
  json["target"] = report.target;
  json["processor"] = report.processor;
  json["key"] = report.key.hex();
  json["folder"] = report.folder;
  json["measured"] = report.measured;
  json["winner"] = report.candidates[report.winner].name;
  json["library"] = report.library;
  json["note"] = report.note;
  json["candidates"] = OrderedJson::array();
  for (const CandidateRecord& record : report.candidates)
    json["candidates"].push_back(candidateJson(record));
  return json;
}

std::string oneLine(std::string text) {
  constexpr size_t kWidth = 100;
  for (char& c : text)
    if (c == '\n')
      c = ' ';
  return shortened(text, kWidth);
}

std::string tableText(const TaskReport& report) {
  using Align = TextTable::Align;
  TextTable table({{""},
                   {"candidate"},
                   {"state"},
                   {"median", Align::Right},
                   {"spread", Align::Right},
                   {"samples", Align::Right},
                   {"reason"}});
  for (size_t i = 0; i < report.candidates.size(); ++i) {
    const CandidateRecord& record = report.candidates[i];
    const bool timed = record.state == CandidateState::Timed;
    table.row({i == report.winner ? "*" : "", record.name, std::string(toString(record.state)),
               timed ? humanTime(record.timing.median) : "",
               timed ? humanPercent(record.timing.spread()) : "",
               timed ? std::to_string(record.timing.samples) : "", oneLine(record.reason)});
  }
  return table.text();
}

std::string headText(const compiler::Task& task, const TaskReport& report) {
  std::string text = task.name + " for " + report.target;
  if (report.note.empty())
    text += (report.measured ? ", measured on " : ", measured before on ") + report.processor;
  return text + '\n';
}

// The worker's side. Schedules may print, also when the process ends; who asked is to read nothing
// but the answer.
int answer(compiler::BuildDriver& driver, const std::string& requestFile) {
  const int answers = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (answers < 0 || nowhere < 0 || ::dup2(nowhere, STDOUT_FILENO) < 0)
    throw StorageError(StorageErrorKind::Other, "tune: standard output cannot be kept");
  const std::string line = answerRequest(driver, requestFile) + '\n';
  for (size_t done = 0; done < line.size();) {
    const ssize_t count = ::write(answers, line.data() + done, line.size() - done);
    if (count < 0 && errno != EINTR)
      return kStopped;
    done += count > 0 ? size_t(count) : 0;
  }
  return kOk;
}

} // namespace

int tune(const TuneArguments& arguments, Session& session) {
  compiler::BuildDriver driver(std::make_shared<compiler::ModuleGenerator>());
  if (arguments.worker)
    return answer(driver, arguments.path);
  try {
    const compiler::Task task = taskOf(arguments);
    compiler::TaskBuilder builder(driver, optionsOf(arguments, session));
    const TaskReport report = builder.build(task, arguments.target);
    if (session.common.json) {
      session.out << indentedText(reportJson(task, report));
      return kOk;
    }
    if (!session.common.quiet)
      session.out << headText(task, report) << tableText(report);
    if (!report.note.empty())
      session.out << report.note << '\n';
    session.out << report.library << '\n';
    return kOk;
  } catch (const compiler::BuildCancelled& stopped) {
    const int signal = session.signal();
    const int code = signal == 0 ? int(kStopped) : 128 + signal;
    session.terminal.line(std::string("nocturne: ") + stopped.what());
    if (session.common.json)
      session.out << indentedText({{"error", {{"message", stopped.what()}, {"exit_code", code}}}});
    return code;
  }
}

} // namespace nocturne::tools
