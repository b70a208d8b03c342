#include "tools/terminal.h"

namespace nocturne::tools {

void Terminal::erase() {
  if (!status_.empty())
    stream_ << "\r\033[K";
}

void Terminal::line(std::string_view text) {
  const std::lock_guard lock(mutex_);
  erase();
  stream_ << text << '\n' << status_ << std::flush;
}

void Terminal::status(std::string_view text) {
  if (!interactive_)
    return;
  const std::lock_guard lock(mutex_);
  erase();
  status_ = text;
  stream_ << status_ << std::flush;
}

void Terminal::clearStatus() {
  const std::lock_guard lock(mutex_);
  erase();
  status_.clear();
  stream_ << std::flush;
}

} // namespace nocturne::tools
