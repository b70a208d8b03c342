#include "tools/progress_line.h"

#include <cmath>

#include <spdlog/spdlog.h>

#include "tools/human.h"

namespace nocturne::tools {

namespace {

constexpr std::chrono::milliseconds kRedraw{200};
constexpr std::chrono::seconds kPlainLine{10};

// Items per second; 0 as long as there is too little to tell it from.
double rateSince(const Progress& first, const Progress& now) {
  const double seconds = now.elapsed - first.elapsed;
  return seconds >= 0.2 ? static_cast<double>(now.itemsDone - first.itemsDone) / seconds : 0;
}

} // namespace

std::string progressText(const Progress& progress, const Progress& first) {
  std::string text =
      '[' + withCommas(progress.itemsDone) + '/' + withCommas(progress.itemsTotal) + ']';
  if (progress.itemsTotal > 0)
    text += ' ' + std::to_string(progress.itemsDone * 100 / progress.itemsTotal) + " %";
  const double rate = rateSince(first, progress);
  if (rate > 0)
    text += ", " + withCommas(static_cast<uint64_t>(std::llround(rate))) + "/s";
  if (progress.cacheHits > 0)
    text += ", " + withCommas(progress.cacheHits) + " from the cache";
  if (progress.itemsFailed > 0)
    text += ", " + withCommas(progress.itemsFailed) + " failed";
  if (rate > 0 && progress.itemsDone < progress.itemsTotal)
    text += ", " +
            humanDuration(static_cast<double>(progress.itemsTotal - progress.itemsDone) / rate) +
            " left";
  return text;
}

void ProgressLine::onProgress(const Progress& progress) {
  if (quiet_)
    return;
  if (!first_)
    first_ = progress;
  const Clock::time_point now = Clock::now();
  if (terminal_.interactive()) {
    if (now - last_ < kRedraw && progress.itemsDone < progress.itemsTotal)
      return;
    last_ = now;
    terminal_.status(progressText(progress, *first_));
  } else if (now - last_ >= kPlainLine) {
    last_ = now;
    terminal_.line(progressText(progress, *first_));
  }
}

void ProgressLine::onWarning(const std::string& text) {
  spdlog::warn("{}", text);
}

} // namespace nocturne::tools
