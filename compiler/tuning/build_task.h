// Tasks to compiled functions: builds the candidates, measures them once, keeps what was found.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "compiler/drivers/build_lock.h"
#include "compiler/drivers/driver.h"
#include "compiler/tuning/compiled_task.h"
#include "compiler/tuning/dispatch_table.h"
#include "compiler/tuning/task.h"
#include "compiler/tuning/worker.h"

namespace nocturne::compiler {

struct TaskOptions {
  std::string cacheDir; // made when missing
  // Builds and measures although it was done before.
  bool force = false;
  TimingOptions timing;
  size_t jobs = 0; // candidates built at the same time; 0 is the number of processors
  std::chrono::milliseconds buildTimeout{300'000}; // of one candidate
  std::chrono::milliseconds runTimeout{120'000};   // of one candidate, with its repetitions
  std::chrono::milliseconds lockTimeout{1'800'000};
  // The program that builds and runs candidates, see CandidateWorker.
  std::vector<std::string> worker;
  std::stop_token stop;
};

// What became of a task.
struct TaskReport {
  Digest key;
  std::string folder; // <cache>/tasks/<key>
  std::string target; // as it was asked for
  std::string processor;
  bool measured = false; // false: the table had it, or nothing can be measured here
  std::vector<CandidateRecord> candidates;
  size_t winner = 0;
  std::string library; // folder of the winner's build
  std::string note;    // what people should know: that nothing was measured, and why
};

// A task has a key: a digest over the builds of its candidates and of its reference - and so over
// texts, schedules, flags, resolved target and toolchain - its entry point, its search space and
// its tolerance. One thread of one process at a time works on a key; who waited finds what the
// other made. Thread-safe.
class TaskBuilder {
public:
  TaskBuilder(BuildDriver& driver, TaskOptions options);

  // Throws UsageError (target, candidates), ItemError when the reference or every candidate fails,
  // StorageError, BuildCancelled.
  TaskReport build(const Task& task, const std::string& target);
  // Throws ItemError for a library that cannot be loaded here.
  CompiledTask load(const Task& task, const TaskReport& report) const;

private:
  class Work;
  BuildDriver& driver_;
  const TaskOptions options_;
  BuildLocks locks_;
};

// With the arguments and defaults of hidet's function of that name: nothing is returned when `load`
// is false.
std::optional<CompiledTask> buildTask(TaskBuilder& builder, const Task& task,
                                      const std::string& target = "cuda", bool load = true);

} // namespace nocturne::compiler
