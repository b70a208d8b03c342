#include "tools/report/report.h"

#include <optional>

#include "estimators/compute_estimator.h"
#include "storage/atomic_file.h"
#include "tools/report/events_file.h"
#include "tools/report/notes.h"
#include "tools/report/point_table.h"
#include "tools/report/row_text.h"
#include "tools/report/summary_json.h"

namespace nocturne::tools {

namespace {

// A file that is filled through a buffer which the rows are appended to.
class RowFile {
public:
  explicit RowFile(const std::string& path) : file_(path) { buffer_.reserve(2 * kFlushAt); }

  std::string& buffer() { return buffer_; }
  void rowDone() {
    if (buffer_.size() >= kFlushAt)
      flush();
  }
  void commit() {
    flush();
    file_.commit();
  }

private:
  static constexpr size_t kFlushAt = 1u << 18;
  void flush() {
    file_.write(buffer_);
    buffer_.clear();
  }
  AtomicFile file_;
  std::string buffer_;
};

// The rows of both files and the summary, in one pass over the items.
class RowPass {
public:
  RowPass(const SweepPlan& plan, const ReportFiles& files)
      : points_(plan), summary_(plan), csv_(files.csv), jsonl_(files.jsonl) {
    csv_.buffer() += csvHeader(points_.axisColumns());
  }

  void add(const RunModule& module, const ItemRecord& item) {
    if (!text_ || module_ != module.index)
      startModule(module);
    const PointText& point = points_.at(item.point);
    const Notes& notes = notes_.read(item.result.notes);
    appendCsvRow(csv_.buffer(), *text_, point, &item, notes);
    appendJsonRow(jsonl_.buffer(), *text_, point, &item, notes);
    csv_.rowDone();
    jsonl_.rowDone();
    summary_.add(module, item, notes, point.memoryCapacity);
  }

  Summary finish() {
    csv_.commit();
    jsonl_.commit();
    return summary_.finish();
  }

private:
  void startModule(const RunModule& module) {
    module_ = module.index;
    facts_ = module.facts; // a copy of ours: the reader's goes with its callback
    text_ = moduleText(module.name, facts_ ? &*facts_ : nullptr);
  }

  PointTable points_;
  SummaryBuilder summary_;
  NotesReader notes_;
  RowFile csv_, jsonl_;
  uint64_t module_ = 0;
  std::optional<ModuleFacts> facts_;
  std::optional<ModuleText> text_;
};

StatisticsTree mergedStatistics(RunReader& reader) {
  StatisticsTree merged;
  reader.forEachShard([&](const RunShard& shard) {
    if (!shard.statistics.empty())
      merged.merge(StatisticsTree::deserialise(shard.statistics));
  });
  addShares(merged);
  return merged;
}

void writeJson(const std::string& path, const OrderedJson& json) {
  writeFileAtomically(path, indentedText(json));
}

} // namespace

ReportFiles reportFiles(const std::string& directory) {
  const std::string stem = directory + '/';
  return {stem + "results.csv", stem + "results.jsonl", stem + "summary.json", stem + "timing.json",
          stem + "events.json"};
}

namespace {

Report makeReport(RunReader& reader, const std::string& directory) {
  Report report{reader.facts(), reader.counts(), {}, {}, reportFiles(directory)};
  RowPass pass(report.facts.plan, report.files);
  reader.forEachItem(
      [&](const RunModule& module, const ItemRecord& item) { pass.add(module, item); });
  report.summary = pass.finish();
  report.statistics = mergedStatistics(reader);
  writeJson(report.files.summary, summaryJson(report.facts, report.summary, report.statistics));
  writeJson(report.files.timing, timingJson(report.facts, report.counts, report.statistics));
  if (!writeEvents(reader, report.files.events))
    report.files.events.clear();
  return report;
}

} // namespace

Report writeReport(RunReader& reader, const std::string& directory) {
  try {
    return makeReport(reader, directory);
  } catch (const StorageError&) {
    throw;
  } catch (const Error& error) {
    // What the engine cannot make sense of was not written by us.
    throw StorageError(StorageErrorKind::Corrupt,
                       "the record of " + directory + " is damaged: " + error.what());
  }
}

} // namespace nocturne::tools
