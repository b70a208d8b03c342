// The subcommands. Each returns an exit code (exit_codes.h) and throws UsageError for a mistake in
// what it was given, StorageError for files that cannot be used.
#pragma once

#include "tools/arguments.h"
#include "tools/session.h"

namespace nocturne::tools {

int sweep(const SweepArguments& arguments, Session& session);
int estimate(const EstimateArguments& arguments, Session& session);
int run(const RunArguments& arguments, Session& session);
int build(const BuildArguments& arguments, Session& session);
int worker(const WorkerArguments& arguments, Session& session);
int hardware(const HardwareArguments& arguments, Session& session);
int estimators(const EstimatorsArguments& arguments, Session& session);
int execute(const ExecuteArguments& arguments, Session& session);
int measureModule(Session& session);
int tune(const TuneArguments& arguments, Session& session);
int report(const ReportArguments& arguments, Session& session);

} // namespace nocturne::tools
