// How a run goes on, on standard error: one line redrawn in place on a terminal, else a line now
// and then.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "engine/services.h"
#include "tools/terminal.h"

namespace nocturne::tools {

// "[1,234/10,000] 12 %, 4,321/s, 800 from the cache, 3 failed, 2 min 10 s left". The rate is that
// since `first`, because a run that goes on begins with items that took it no time.
std::string progressText(const Progress& progress, const Progress& first);

class ProgressLine : public ProgressListener {
public:
  // `quiet` shows warnings only.
  ProgressLine(Terminal& terminal, bool quiet) : terminal_(terminal), quiet_(quiet) {}
  ~ProgressLine() override { terminal_.clearStatus(); }

  void onProgress(const Progress& progress) override;
  void onWarning(const std::string& text) override;

private:
  using Clock = std::chrono::steady_clock;
  Terminal& terminal_;
  const bool quiet_;
  std::optional<Progress> first_;
  Clock::time_point last_ = Clock::now();
};

} // namespace nocturne::tools
