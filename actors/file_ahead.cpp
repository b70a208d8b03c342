#include "actors/file_ahead.h"

#include <algorithm>

#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include "engine/file_bytes.h"

namespace nocturne {

namespace {

constexpr uint64_t kGroup = 8;    // files that one token of the pipeline carries
constexpr uint64_t kWorthIt = 32; // files that a pipeline is started for

} // namespace

FileInfo hashedInfo(uint64_t module, const std::string& path) {
  FileInfo info;
  info.module = module;
  try {
    HashedFile file = hashFile(path);
    info.bytes = file.bytes;
    info.contentHash = file.contentHash;
  } catch (const ItemError& error) {
    info.error = error.failure().message;
  }
  return info;
}

FileAhead::FileAhead(const SweepPlan& plan, int threads)
    : plan_(plan),
      // oneTBB warns on standard error when it is asked for more threads than there are processors.
      threads_(std::clamp(threads, 1, tbb::this_task_arena::max_concurrency())) {}

void FileAhead::finish() {
  stop();
  if (thread_.joinable())
    thread_.join();
  sink_ = {};
}

void FileAhead::start(std::vector<bool> wanted, uint64_t limit, Sink sink) {
  wanted_ = std::move(wanted);
  sink_ = std::move(sink);
  limit_ = limit;
  thread_ = std::thread([this] { run(); });
}

void FileAhead::allow(uint64_t limit) {
  {
    std::lock_guard lock(mutex_);
    if (limit <= limit_)
      return;
    limit_ = limit;
  }
  changed_.notify_one();
}

void FileAhead::stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_one();
}

bool FileAhead::stopped() const {
  std::lock_guard lock(mutex_);
  return stopped_;
}

void FileAhead::run() {
  tbb::task_arena arena(threads_);
  Range range;
  while (nextRange(range))
    arena.execute([&] { readRange(range); });
  if (!stopped())
    sink_({}, true);
}

bool FileAhead::nextRange(Range& range) {
  std::unique_lock lock(mutex_);
  uint64_t all = plan_.modules.size();
  changed_.wait(
      lock, [&] { return stopped_ || next_ == all || limit_ >= std::min(all, next_ + kWorthIt); });
  range = {next_, std::min(all, limit_)};
  next_ = range.end;
  return !stopped_ && range.first < range.end;
}

void FileAhead::readRange(const Range& range) {
  uint64_t next = range.first;
  auto source = tbb::make_filter<void, Range>(
      tbb::filter_mode::serial_in_order, [&](tbb::flow_control& control) -> Range {
        Range group{next, std::min(range.end, next + kGroup)};
        next = group.end;
        if (group.first == group.end || stopped())
          control.stop();
        return group;
      });
  auto read = tbb::make_filter<Range, std::vector<FileInfo>>(
      tbb::filter_mode::parallel, [this](Range group) { return readGroup(group); });
  auto deliver = tbb::make_filter<std::vector<FileInfo>, void>(tbb::filter_mode::serial_in_order,
                                                               [this](std::vector<FileInfo> files) {
                                                                 if (!files.empty())
                                                                   sink_(std::move(files), false);
                                                               });
  tbb::parallel_pipeline(static_cast<size_t>(2 * threads_), source & read & deliver);
}

std::vector<FileInfo> FileAhead::readGroup(Range group) const {
  std::vector<FileInfo> files;
  for (uint64_t module = group.first; module < group.end; ++module) {
    if (!wanted_[module])
      continue;
    files.push_back(hashedInfo(module, plan_.modules[module].path));
  }
  return files;
}

} // namespace nocturne
