// The messages of builds. Those between the door and the workers cross the border of a process; the
// supervisor can be reached from inside its own process only.
//
//   worker ── WorkerHello ──► door ── WorkerReady ──► supervisor
//   supervisor ── BuildTask ─────────────────────────► worker
//   worker ── BuildDone ────► door ── TaskDone ─────► supervisor
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <caf/fwd.hpp>
#include <caf/meta/type_name.hpp>
#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

#include "actors/inspect_values.h"
#include "actors/messages.h"
#include "compiler/drivers/driver.h"

namespace nocturne {

using WorkerNumber = uint64_t;

// The first words of a worker. The token proves that we started it.
struct WorkerHello {
  WorkerNumber worker = 0;
  std::string token;
};

// What all builds of a batch have in common.
struct BuildSettings {
  std::string target;
  bool isObject = false, force = false, keepIr = false, verify = false;
  std::vector<std::string> flags;
  uint64_t lockMilliseconds = 0, linkMilliseconds = 0;
};
BuildSettings toSettings(const compiler::BuildOptions& options);
compiler::BuildOptions fromSettings(const BuildSettings& settings, std::string outputDir);

struct BuildTask {
  uint64_t ticket = 0;
  std::string name; // in messages
  std::string text; // of the module, unless `path` names a file that has it
  std::string path;
  Digest contentHash; // of that file
  // The folder of a finished build that is to be copied; "" to build.
  std::string copyOf;
  Digest key; // of that build
  std::string outputDir;
  BuildSettings settings;
};

// A BuildReport.
struct BuildReply {
  uint8_t state = 0;
  bool built = false;
  Digest key;
  std::string folder, library, link;
  std::string manifest; // as in its file; "" when there is none
  double buildSeconds = 0, seconds = 0;
  std::string log;
  std::optional<Failure> failure;
};
BuildReply toReply(const compiler::BuildReport& report);
// Throws Error for what is no report: a state that there is not, a failure without its reason, a
// success without a manifest, or a manifest that is none.
compiler::BuildReport fromReply(BuildReply reply);

struct BuildDone {
  WorkerNumber worker = 0;
  uint64_t ticket = 0;
  BuildReply reply;
};

using BuildWorkerHandle = caf::typed_actor<caf::reacts_to<BuildTask>>;
using BuildDoorHandle = caf::typed_actor<caf::reacts_to<WorkerHello>, caf::reacts_to<BuildDone>>;

// Inside the process of the supervisor.

struct WorkerReady {
  WorkerNumber worker = 0;
  BuildWorkerHandle handle;
};
struct TaskDone {
  BuildDone done;
};
struct WorkerEnded {
  WorkerNumber worker = 0;
  std::string reason;
};
struct WorkerDeadline {
  WorkerNumber worker = 0;
};
struct TaskDeadline {
  WorkerNumber worker = 0;
  uint64_t ticket = 0;
};
// Starts the builds; answered when all are done.
struct BuildsRequest {};
struct BuildsOver {
  std::string problem; // why it ended early, "" when it did not or was told to
};

using BuildSupervisorHandle =
    caf::typed_actor<caf::replies_to<BuildsRequest>::with<BuildsOver>, caf::reacts_to<WorkerReady>,
                     caf::reacts_to<TaskDone>, caf::reacts_to<WorkerEnded>,
                     caf::reacts_to<WorkerDeadline>, caf::reacts_to<TaskDeadline>,
                     caf::reacts_to<StopRequest>, caf::reacts_to<GraceOver>>;

// Makes those that cross processes known to an actor system.
void addBuildMessageTypes(caf::actor_system_config& config);

#define NOCTURNE_MESSAGE(Type, ...)                                                                \
  template <typename Inspector>                                                                    \
  typename Inspector::result_type inspect(Inspector& f, [[maybe_unused]] Type& x) {                \
    return f(caf::meta::type_name(#Type) __VA_OPT__(, ) __VA_ARGS__);                              \
  }

NOCTURNE_MESSAGE(WorkerHello, x.worker, x.token)
NOCTURNE_MESSAGE(BuildSettings, x.target, x.isObject, x.force, x.keepIr, x.verify, x.flags,
                 x.lockMilliseconds, x.linkMilliseconds)
NOCTURNE_MESSAGE(BuildTask, x.ticket, x.name, x.text, x.path, x.contentHash, x.copyOf, x.key,
                 x.outputDir, x.settings)
NOCTURNE_MESSAGE(BuildDone, x.worker, x.ticket, x.reply)
NOCTURNE_MESSAGE(WorkerReady, x.worker, x.handle)
NOCTURNE_MESSAGE(TaskDone, x.done)
NOCTURNE_MESSAGE(WorkerEnded, x.worker, x.reason)
NOCTURNE_MESSAGE(WorkerDeadline, x.worker)
NOCTURNE_MESSAGE(TaskDeadline, x.worker, x.ticket)
NOCTURNE_MESSAGE(BuildsRequest)
NOCTURNE_MESSAGE(BuildsOver, x.problem)

#undef NOCTURNE_MESSAGE

template <typename Inspector>
typename Inspector::result_type inspect(Inspector& f, BuildReply& x) {
  OptionalFields<Failure> failure(x.failure);
  auto load = [&]() -> caf::error {
    failure.store(x.failure);
    return caf::none;
  };
  return f(caf::meta::type_name("BuildReply"), x.state, x.built, x.key, x.folder, x.library, x.link,
           x.manifest, x.buildSeconds, x.seconds, x.log, failure.present, failure.value,
           caf::meta::load_callback(load));
}

} // namespace nocturne
