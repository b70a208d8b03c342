// nocturne report
#include "tools/report/report.h"

#include <filesystem>

#include "tools/commands.h"
#include "tools/exit_codes.h"
#include "tools/report/summary_json.h"
#include "tools/report/summary_text.h"

namespace nocturne::tools {

namespace {

// A record may be named itself; its reports go beside it.
std::string directoryOf(const std::string& directoryOrFile) {
  namespace fs = std::filesystem;
  const fs::path path(directoryOrFile);
  if (fs::is_directory(path))
    return directoryOrFile;
  return path.has_parent_path() ? path.parent_path().string() : ".";
}

} // namespace

int report(const ReportArguments& arguments, Session& session) {
  RunReader reader(arguments.directory);
  const Report made = writeReport(reader, directoryOf(arguments.directory));
  const int code = made.summary.total.failed > 0 ? kFailedItems : kOk;
  if (session.common.json) {
    OrderedJson json = summaryJson(made.facts, made.summary, made.statistics);
    json["exit_code"] = code;
    session.out << indentedText(json);
  } else if (!session.common.quiet) {
    session.out << summaryText(made);
  }
  return code;
}

} // namespace nocturne::tools
