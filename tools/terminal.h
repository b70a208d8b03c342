// Standard error as people see it: lines, and at most one status line that lines never tear.
#pragma once

#include <mutex>
#include <ostream>
#include <string>
#include <string_view>

namespace nocturne::tools {

// Thread-safe: log messages, warnings and progress come from different threads.
class Terminal {
public:
  Terminal(std::ostream& stream, bool interactive) : stream_(stream), interactive_(interactive) {}

  bool interactive() const { return interactive_; }
  // A whole line; the status line is taken away first and drawn again below it.
  void line(std::string_view text);
  // Replaces the status line; does nothing unless interactive.
  void status(std::string_view text);
  void clearStatus();

private:
  void erase();
  std::ostream& stream_;
  const bool interactive_;
  std::mutex mutex_; // guards status_ and the order of writes
  std::string status_;
};

} // namespace nocturne::tools
