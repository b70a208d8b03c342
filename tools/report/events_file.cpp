#include "tools/report/events_file.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "engine/event_stream.h"
#include "storage/atomic_file.h"
#include "tools/report/summary_json.h"

namespace nocturne::tools {

namespace {

class EventsFile {
public:
  EventsFile(const SweepPlan& plan, std::string path) : plan_(plan), path_(std::move(path)) {}

  void add(uint64_t module, uint64_t point, std::string_view lines) {
    const Point names = plan_.pointNames(point);
    OrderedJson origin = {{"module", plan_.modules.at(module).name},
                          {"estimator", names.estimator},
                          {"hardware", names.hardware}};
    for (const auto& [path, value] : names.axes)
      origin["axes"][path] = OrderedJson(value);
    while (!lines.empty()) {
      const size_t end = std::min(lines.find('\n'), lines.size());
      OrderedJson event = OrderedJson::parse(lines.substr(0, end));
      lines.remove_prefix(std::min(end + 1, lines.size()));
      event.at("metadata").update(origin);
      write(event.dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
    }
  }

  bool finish() {
    if (!file_) {
      std::error_code ignored;
      std::filesystem::remove(path_, ignored);
      return false;
    }
    file_->write("\n]}\n");
    file_->commit();
    return true;
  }

private:
  void write(const std::string& event) {
    if (!file_) {
      file_.emplace(path_);
      file_->write("{\"version\": \"" + std::string(EventStream::kVersion) +
                   "\", \"metadata\": {}, \"events\": [\n");
    } else {
      file_->write(",\n");
    }
    file_->write(event);
  }

  const SweepPlan& plan_;
  const std::string path_;
  std::optional<AtomicFile> file_;
};

} // namespace

bool writeEvents(RunReader& reader, const std::string& path) {
  EventsFile file(reader.facts().plan, path);
  reader.forEachEvents([&](uint64_t module, uint64_t point, const std::string& lines) {
    try {
      file.add(module, point, lines);
    } catch (const OrderedJson::exception& error) {
      throw Error("events of module " + std::to_string(module) + " at point " +
                  std::to_string(point) + ": " + error.what());
    }
  });
  return file.finish();
}

} // namespace nocturne::tools
