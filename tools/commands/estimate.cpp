// nocturne estimate
#include "compiler/reader/module_reader.h"
#include "storage/atomic_file.h"
#include "tools/commands.h"
#include "tools/estimate_report.h"
#include "tools/exit_codes.h"
#include "tools/human.h"
#include "tools/report/summary_json.h"
#include "tools/settings.h"
#include "tools/trace.h"

namespace nocturne::tools {

namespace {

SweepPlan makePlan(const EstimateArguments& arguments, const PlanInputs& inputs) {
  SweepPlan plan = planFromArguments({arguments.file}, {arguments.hardware}, {arguments.estimator},
                                     inputs.sources());
  if (plan.modules.size() != 1)
    throw UsageError("estimate takes one module, but " + arguments.file + " has " +
                     std::to_string(plan.modules.size()) + "; nocturne sweep takes them all");
  applyAssumptions(plan, arguments.assume);
  const EstimatorLookup lookup = inputs.registry().lookup();
  applySettings(plan, arguments.settings, lookup);
  plan.validate(lookup);
  return plan;
}

// Reads and estimates; a failure becomes part of the report.
void fill(EstimateReport& report, const ModuleFile& file, ModuleReader& reader,
          const EstimatorRegistry& registry) {
  try {
    report.module = reader.read(file.path);
    const Point& point = report.point;
    if (!registry.find(point.estimator)->wholeModule)
      report.operations =
          operationCosts(*report.module, *registry.create(point.estimator, point.options));
    const std::unique_ptr<Estimator> estimator = registry.create(point.estimator, point.options);
    estimator->wantDetails(true);
    report.result = estimator->estimate(*report.module, "", nullptr, false);
    report.failure = report.result->failure;
    report.statistics = estimator->getStatistics();
  } catch (const ItemError& error) {
    report.failure = error.failure();
  }
  if (report.failure)
    report.result.reset();
}

// Perfetto still opens as many in a moment: about fifty megabytes.
constexpr size_t kMostSlices = 200'000;

void writeTrace(const EstimateReport& report, const std::string& path, Session& session) {
  const Trace trace = traceOf(report, kMostSlices);
  writeFileAtomically(path, trace.json);
  if (report.operations.empty())
    session.terminal.line("note: " + path + " is empty: " + report.point.estimator +
                          " gives no times of operations here");
  else if (trace.shown < trace.operations)
    session.terminal.line("note: " + path + " has the first " + withCommas(trace.shown) + " of " +
                          withCommas(trace.operations) + " operations");
}

} // namespace

int estimate(const EstimateArguments& arguments, Session& session) {
  if (arguments.top < 0)
    throw UsageError("--top: expected a number that is not negative");
  const PlanInputs inputs(arguments.plugins);
  const SweepPlan plan = makePlan(arguments, inputs);
  compiler::FileModuleReader reader(compiler::readerOptions(plan.assume));
  EstimateReport report;
  report.name = plan.modules.front().name;
  report.point = plan.point(0, inputs.registry().lookup(), reader.keyText());
  for (const std::string& note : plan.notes)
    session.terminal.line("note: " + note);
  fill(report, plan.modules.front(), reader, inputs.registry());
  if (report.failure)
    session.terminal.line("nocturne: " + std::string(toString(report.failure->kind)) + ": " +
                          report.failure->text());
  if (!arguments.trace.empty() && report.module)
    writeTrace(report, arguments.trace, session);
  if (session.common.json)
    session.out << indentedText(toJson(report));
  else if (report.module)
    session.out << toText(report, static_cast<size_t>(arguments.top));
  return report.failure ? kFailedItems : kOk;
}

} // namespace nocturne::tools
