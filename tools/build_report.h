// What `nocturne build` is asked to build, and what it says about it.
#pragma once

#include <string>
#include <vector>

#include "compiler/drivers/batch.h"
#include "engine/sweep_plan.h"
#include "tools/report/summary_json.h"

namespace nocturne::tools {

// Where each module is built: `outputDir` and the module's name without its extension. A name is
// the path from the current folder, as in all results; ".." at its beginning is left out. Modules
// that would share a folder keep their extension; when they share it still, or there is no
// `outputDir`, throws UsageError.
std::vector<std::string> buildFolders(const std::vector<ModuleFile>& modules,
                                      const std::string& outputDir);

// One object: modules[] with name, state, seconds, library, key and failure, in the order of the
// modules; then the counts.
// What is cancelled is not done.
Progress progressOf(const compiler::BatchProgress& now);

OrderedJson toJson(const std::vector<ModuleFile>& modules, const compiler::BatchResult& result);
// A table of what failed, with its place, and a line that counts; only the table when `quiet`.
std::string toText(const std::vector<ModuleFile>& modules, const compiler::BatchResult& result,
                   bool quiet);

} // namespace nocturne::tools
