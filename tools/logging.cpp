#include "tools/logging.h"

#include <algorithm>
#include <memory>
#include <mutex>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include "engine/options.h"

namespace nocturne::tools {

namespace {

class TerminalSink : public spdlog::sinks::base_sink<std::mutex> {
public:
  explicit TerminalSink(Terminal& terminal) : terminal_(terminal) {}

protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t buffer;
    formatter_->format(message, buffer);
    std::string_view text(buffer.data(), buffer.size());
    if (text.ends_with('\n'))
      text.remove_suffix(1);
    terminal_.line(text);
  }
  void flush_() override {}

private:
  Terminal& terminal_;
};

} // namespace

const std::vector<std::string>& logLevels() {
  static const std::vector<std::string> levels = {"trace", "debug",    "info", "warn",
                                                  "error", "critical", "off"};
  return levels;
}

LogScope::LogScope(Terminal& terminal, const std::string& level) {
  const auto& levels = logLevels();
  const auto place = std::find(levels.begin(), levels.end(), level);
  if (place == levels.end())
    throw UsageError("there is no log level \"" + level + "\"" + didYouMean(level, levels));
  auto logger =
      std::make_shared<spdlog::logger>("nocturne", std::make_shared<TerminalSink>(terminal));
  logger->set_pattern("%l: %v");
  logger->set_level(static_cast<spdlog::level::level_enum>(place - levels.begin()));
  spdlog::set_default_logger(std::move(logger));
}

LogScope::~LogScope() {
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::null_sink_mt>()));
}

} // namespace nocturne::tools
