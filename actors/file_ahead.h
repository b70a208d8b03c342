// Reads and hashes the files of a plan ahead of their use, in a oneTBB pipeline.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "actors/work.h"
#include "engine/sweep_plan.h"

namespace nocturne {

// The size and content hash of a file; what goes wrong is in `error`.
FileInfo hashedInfo(uint64_t module, const std::string& path);

// Runs in a thread of its own. No bytes are kept: what is read stays in the operating system's
// cache for whoever parses the file. How far it may go is up to its user.
class FileAhead {
public:
  // Called from the thread, with files in plan order; `last` says that nothing will follow.
  using Sink = std::function<void(std::vector<FileInfo> files, bool last)>;

  // The plan has to outlive it. `threads` take part in the hashing.
  FileAhead(const SweepPlan& plan, int threads);
  FileAhead(const FileAhead&) = delete;
  FileAhead& operator=(const FileAhead&) = delete;
  ~FileAhead() { finish(); }

  // Once: begins with the wanted modules below `limit`.
  void start(std::vector<bool> wanted, uint64_t limit, Sink sink);
  // Modules below this index may be read. Never blocks for long.
  void allow(uint64_t limit);
  // Ends early: the sink is called once more at most. Does not wait.
  void stop();
  // Stops, waits for the thread and lets go of the sink.
  void finish();

private:
  struct Range {
    uint64_t first = 0, end = 0;
  };

  void run();
  bool nextRange(Range& range); // waits; false at the end
  void readRange(const Range& range);
  std::vector<FileInfo> readGroup(Range group) const;
  bool stopped() const;

  const SweepPlan& plan_;
  const int threads_;
  std::vector<bool> wanted_; // fixed by start()
  Sink sink_;                // fixed by start()

  mutable std::mutex mutex_; // guards the next four
  std::condition_variable changed_;
  uint64_t limit_ = 0, next_ = 0;
  bool stopped_ = false;

  std::thread thread_;
};

} // namespace nocturne
