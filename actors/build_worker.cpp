#include "actors/build_worker.h"

#include <charconv>
#include <csignal>
#include <new>

#include <sys/prctl.h>
#include <sys/resource.h>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/atom.hpp>
#include <caf/io/middleman.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/actor_policy.h"
#include "actors/build_messages.h"
#include "compiler/drivers/manifest.h"
#include "engine/file_bytes.h"

namespace nocturne {

namespace {

using compiler::BuildOptions;
using compiler::BuildReport;
using compiler::failedReport;
using compiler::ModuleSource;

constexpr std::string_view kAddressStart = "127.0.0.1:";

struct BuildWorkerState {
  static constexpr const char* name = "build_worker";
};
using Self = BuildWorkerHandle::stateful_pointer<BuildWorkerState>;

struct BuildWorkerSetup {
  compiler::BuildDriver& driver;
  WorkerNumber number = 0;
  std::string token;
  BuildDoorHandle door;
  std::stop_token stop;
};

ModuleSource sourceOf(BuildTask& task) {
  if (task.path.empty())
    return {std::move(task.name), std::move(task.text)};
  ModuleSource source{std::move(task.name), readFile(task.path)};
  if (hashBytes(source.text) != task.contentHash)
    throw ItemError({FailureKind::Unreadable, "the file changed while it was waiting to be built",
                     source.name, 0, 0});
  return source;
}

BuildReport copy(compiler::BuildDriver& driver, const BuildTask& task,
                 const BuildOptions& options) {
  compiler::BuildOutcome source;
  source.key = task.key;
  source.folder = task.copyOf;
  source.manifest = std::make_shared<const compiler::Manifest>(compiler::readManifest(task.copyOf));
  return driver.tryCopy(source, options);
}

// Nothing is thrown.
BuildReport perform(const BuildWorkerSetup& setup, BuildTask& task) {
  try {
    BuildOptions options = fromSettings(task.settings, task.outputDir);
    options.stop = setup.stop;
    if (!task.copyOf.empty())
      return copy(setup.driver, task, options);
    return setup.driver.tryBuild(sourceOf(task), options);
  } catch (const ItemError& error) {
    return failedReport(error.failure());
  } catch (const std::bad_alloc&) {
    return failedReport({FailureKind::Internal, "out of memory", "", 0, 0});
  } catch (const std::exception& error) {
    return failedReport({FailureKind::ToolFailed, error.what(), "", 0, 0});
  }
}

BuildWorkerHandle::behavior_type buildWorkerActor(Self self, BuildWorkerSetup setup) {
  dieQuietly(self);
  self->send(setup.door, WorkerHello{setup.number, setup.token});
  return {
      [self, setup](BuildTask& task) {
        const uint64_t ticket = task.ticket;
        self->send(setup.door, BuildDone{setup.number, ticket, toReply(perform(setup, task))});
      },
  };
}

template <typename T>
bool parseNumber(std::string_view text, T& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && problem == std::errc() && end == text.data() + text.size();
}

} // namespace

std::string toText(const BuildWorkerPass& pass) {
  return std::to_string(pass.worker) + ' ' + pass.token + '\n';
}

BuildWorkerPass passFromText(std::string_view text, uint16_t port) {
  BuildWorkerPass pass;
  pass.port = port;
  const size_t blank = text.find(' ');
  if (!text.ends_with('\n') || blank == std::string_view::npos ||
      !parseNumber(text.substr(0, blank), pass.worker))
    throw UsageError("worker: standard input has no pass; workers are started by nocturne build");
  text.remove_suffix(1);
  pass.token = text.substr(blank + 1);
  return pass;
}

uint16_t loopbackPort(std::string_view address) {
  uint16_t port = 0;
  if (!address.starts_with(kAddressStart) ||
      !parseNumber(address.substr(kAddressStart.size()), port) || port == 0)
    throw UsageError("worker: \"" + std::string(address) +
                     "\" is not of the form 127.0.0.1:PORT; workers serve their own machine only");
  return port;
}

void dieWithParent() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

void serveBuilds(compiler::BuildDriver& driver, const BuildWorkerPass& pass) {
  caf::actor_system_config config;
  config.set("scheduler.max-threads", size_t{1});
  config.set("scheduler.policy", caf::atom("sharing"));
  config.load<caf::io::middleman>();
  addBuildMessageTypes(config);
  caf::actor_system system{config};
  auto door = system.middleman().remote_actor<BuildDoorHandle>("127.0.0.1", pass.port);
  if (!door)
    throw ItemError({FailureKind::ToolFailed,
                     "no supervisor of builds at port " + std::to_string(pass.port) + ": " +
                         system.render(door.error()),
                     "", 0, 0});
  std::stop_source stop;
  // A worker that builds hears nothing until it is done, so that another has to watch.
  caf::scoped_actor watch{system};
  watch->monitor(*door);
  BuildWorkerHandle worker = system.spawn<caf::detached>(
      buildWorkerActor, BuildWorkerSetup{driver, pass.worker, pass.token, *door, stop.get_token()});
  watch->monitor(worker);
  watch->receive([](const caf::down_msg&) {});
  stop.request_stop();
  caf::anon_send_exit(worker, caf::exit_reason::user_shutdown);
}

} // namespace nocturne
