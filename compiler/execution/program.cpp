#include "compiler/execution/program.h"

#include <charconv>
#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "compiler/codegen/module_code.h"
#include "compiler/execution/library.h"
#include "compiler/execution/split.h"
#include "compiler/reader/parse.h"
#include "engine/error.h"
#include "engine/number_text.h"

namespace nocturne::compiler {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Outcome outcomeOf(FailureKind kind) {
  switch (kind) {
  case FailureKind::UnsupportedOp:
    return Outcome::NoLowering;
  case FailureKind::Unreadable:
    return Outcome::Unreadable;
  default:
    return Outcome::Failed;
  }
}

// The name of an operation that a message puts in quotes.
std::string quotedOperation(const std::string& message) {
  for (size_t start = message.find('\''); start != std::string::npos;
       start = message.find('\'', start + 1)) {
    size_t end = message.find('\'', start + 1);
    std::string name = message.substr(start + 1, end - start - 1);
    if (end != std::string::npos && name.find('.') != std::string::npos &&
        name.find(' ') == std::string::npos)
      return name;
  }
  return "";
}

struct RandomChoice {
  uint64_t seed = 0;
  double scale = 1;
};

// Of "random:SEED:SCALE" and its shorter forms; nothing if `choice` is not of this kind.
std::optional<RandomChoice> randomChoice(std::string_view choice) {
  constexpr std::string_view kName = "random";
  RandomChoice random;
  if (choice == kName)
    return random;
  if (!choice.starts_with("random:"))
    return std::nullopt;
  std::string_view rest = choice.substr(kName.size() + 1);
  std::string_view seed = rest.substr(0, rest.find(':'));
  auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), random.seed);
  if (error != std::errc() || end != seed.data() + seed.size())
    throw UsageError("\"" + std::string(choice) + "\": the seed is no whole number below 2^64");
  if (seed.size() == rest.size())
    return random;
  std::optional<double> scale = parseNumber(rest.substr(seed.size() + 1));
  if (!scale || *scale < 0)
    throw UsageError("\"" + std::string(choice) + "\": the scale is no number of 0 or more");
  random.scale = *scale;
  return random;
}

TensorData makeInput(const std::string& choice, const LibraryArgument& argument, size_t index) {
  if (choice == "zeros")
    return TensorData(argument);
  std::optional<RandomChoice> random = randomChoice(choice);
  if (!random && choice != "ones")
    return readNpy(choice, argument);
  TensorData tensor(argument);
  if (random)
    fillRandom(tensor, random->seed + (uint64_t(index) << 32), random->scale);
  else
    fillConstant(tensor, 1);
  return tensor;
}

// The values of one run.
class Run {
public:
  Run(const LoadedLibrary& library, const std::vector<LibraryEntry>& entries,
      const SplitProgram& program)
      : library_(library), entries_(entries), program_(program) {}

  // Calls the functions that make the inputs, then the tested one.
  std::vector<TensorData>& execute(const std::vector<std::string>& choices) {
    const LibraryEntry& entry = find(program_.function);
    addOwnInputs(entry, choices);
    for (const SourceValue& source : program_.sources)
      arguments_.push_back(&resultsOf(source.function)[source.result]);
    PreparedCall call(library_, entry, arguments_);
    call.run();
    results_ = std::move(call.results());
    return results_;
  }

  std::optional<Mismatch> compare(const ProgramCheck& wanted) const {
    return check(wanted.expectation, value(wanted.got), value(wanted.expected));
  }

private:
  const LibraryEntry& find(const std::string& function) const {
    for (const LibraryEntry& entry : entries_)
      if (entry.name == function)
        return entry;
    throw ItemError({FailureKind::Internal, "@" + function + " was not compiled", "", 0, 0});
  }

  void addOwnInputs(const LibraryEntry& entry, const std::vector<std::string>& choices) {
    size_t count = program_.ownArguments;
    if (count > 0 && choices.empty())
      throw UsageError("@" + entry.name + " takes " + counted(count, "input") +
                       "; --inputs says which");
    if (choices.size() > 1 && choices.size() != count)
      throw UsageError("@" + entry.name + " takes " + counted(count, "input") + ", not " +
                       std::to_string(choices.size()));
    for (size_t i = 0; i < count; ++i) {
      const std::string& choice = choices.size() == 1 ? choices.front() : choices[i];
      arguments_.push_back(&ownInputs_.emplace_back(makeInput(choice, entry.arguments[i], i)));
    }
  }

  std::vector<TensorData>& resultsOf(const std::string& function) {
    auto [place, isNew] = sources_.try_emplace(function);
    if (isNew) {
      PreparedCall call(library_, find(function), {});
      call.run();
      place->second = std::move(call.results());
    }
    return place->second;
  }

  const TensorData& value(const CheckedValue& checked) const {
    return checked.isArgument ? *arguments_[checked.index] : results_[checked.index];
  }

  const LoadedLibrary& library_;
  const std::vector<LibraryEntry>& entries_;
  const SplitProgram& program_;
  std::deque<TensorData> ownInputs_;
  std::map<std::string, std::vector<TensorData>> sources_;
  std::vector<const TensorData*> arguments_;
  std::vector<TensorData> results_;
};

void execute(const ModuleCode& code, const SplitProgram& program, const ProgramOptions& options,
             ProgramReport& report) {
  Clock::time_point start = Clock::now();
  LoadedLibrary library(code.object);
  report.times.push_back({"link", secondsSince(start)});
  start = Clock::now();
  Run run(library, code.entries, program);
  std::vector<TensorData>& results = run.execute(options.inputs);
  report.times.push_back({"run", secondsSince(start)});
  report.outcome = program.checks.empty() ? Outcome::Ran : Outcome::Pass;
  for (const ProgramCheck& check : program.checks) {
    std::optional<Mismatch> mismatch = run.compare(check);
    if (!mismatch)
      continue;
    report.outcome = Outcome::Mismatch;
    report.message = check.text + ": " + mismatch->text();
    break;
  }
  results.erase(results.begin() + std::ptrdiff_t(program.ownResults), results.end());
  report.results = std::move(results);
}

void setFailure(ProgramReport& report, const Failure& failure) {
  report.outcome = outcomeOf(failure.kind);
  report.message = failure.text();
  report.blockedBy = quotedOperation(failure.message);
}

} // namespace

std::string_view toString(Outcome outcome) {
  switch (outcome) {
  case Outcome::Pass:
    return "pass";
  case Outcome::Ran:
    return "ran";
  case Outcome::Mismatch:
    return "mismatch";
  case Outcome::NoLowering:
    return "no lowering";
  case Outcome::Unreadable:
    return "unreadable";
  case Outcome::Failed:
    return "failed";
  case Outcome::Crash:
    return "crash";
  case Outcome::Timeout:
    return "timeout";
  }
  return "failed";
}

ProgramReport runProgramText(std::string text, const std::string& path,
                             const ProgramOptions& options) {
  ProgramReport report;
  try {
    ParsedModule parsed;
    Failure failure;
    if (failed(scanAndParse(std::move(text), path, parsed, failure)))
      throw ItemError(failure);
    SplitProgram program = splitProgram(*parsed.module);
    report.operations = program.operations;
    ModuleCode code;
    bool compiled = succeeded(compileModule(parsed, options.compile, code, failure));
    report.times = code.times;
    report.stages = std::move(code.stages);
    if (!compiled)
      throw ItemError(failure);
    execute(code, program, options, report);
  } catch (const ItemError& error) {
    setFailure(report, error.failure());
  }
  return report;
}

} // namespace nocturne::compiler
