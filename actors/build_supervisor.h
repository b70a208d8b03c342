// The supervisor of builds: hands one module at a time to each worker process, kills those that
// take too long, replaces those that die, and decides when all is done. Event-based; no handler
// works for long.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/build_messages.h"
#include "actors/build_queue.h"

namespace nocturne {

// A process with a worker in it. The destructor ends it.
class BuildWorker {
public:
  virtual ~BuildWorker() = default;
  virtual void kill() = 0; // must not block
};

// Starts one. It has to lead to WorkerReady, or to a call of `ended` with how it ended; to the
// latter in any case once it is killed. One that throws has started nothing.
using BuildWorkerFactory = std::function<std::unique_ptr<BuildWorker>(
    WorkerNumber number, std::function<void(const std::string&)> ended)>;

struct BuildSupervisorSetup {
  std::shared_ptr<BuildQueue> queue; // nobody else touches it before BuildsOver
  std::vector<BuildTask> tasks;      // of the queue's items: all that is known beforehand
  size_t workers = 1;
  std::chrono::milliseconds deadline{0};  // of one build; 0 for none
  std::chrono::milliseconds startTime{0}; // a worker may take before it is ready
  std::chrono::milliseconds grace{0};     // for what runs, after a stop
  unsigned restartLimit = 8;              // deaths in a row of workers that had nothing to do
  BuildWorkerFactory startWorker;
  std::function<void(const BuildQueue&)> onProgress; // may be empty
};

//            BuildsRequest              all done
//   waiting ──────────────► running ─────────────────────────► over
//                              │ stop, restart limit            ▲
//                              ▼            nothing under way   │
//                           draining ───────────────────────────┘
struct BuildSupervisorState {
  static constexpr const char* name = "build_supervisor";
  enum class Phase : uint8_t { Waiting, Running, Draining, Over };

  struct Worker {
    std::unique_ptr<BuildWorker> process; // null when it could not be started
    BuildWorkerHandle handle;             // null until it is ready
    std::optional<BuildQueue::Job> job;   // that it is at
    uint64_t ticket = 0;                  // of that job
    size_t builds = 0;                    // that it has done
    bool late = false;                    // killed at its deadline
    bool retired = false;                 // killed because a fresh one was wanted
  };

  BuildSupervisorSetup setup;
  Phase phase = Phase::Waiting;
  caf::typed_response_promise<BuildsOver> promise;
  std::map<WorkerNumber, Worker> workers;
  WorkerNumber nextWorker = 1;
  uint64_t nextTicket = 1;
  unsigned deathsInARow = 0;
  bool stopWanted = false; // before there was anything to stop
  std::string problem;
};

BuildSupervisorHandle::behavior_type
buildSupervisorActor(BuildSupervisorHandle::stateful_pointer<BuildSupervisorState> self,
                     BuildSupervisorSetup setup);

} // namespace nocturne
