#include "actors/build_messages.h"

#include <caf/actor_system_config.hpp>

#include "compiler/drivers/manifest.h"

namespace nocturne {

using compiler::BuildOptions;
using compiler::BuildReport;
using compiler::BuildState;
using compiler::OutputKind;

BuildSettings toSettings(const BuildOptions& options) {
  BuildSettings settings;
  settings.target = options.target;
  settings.isObject = options.kind == OutputKind::Object;
  settings.force = options.force;
  settings.keepIr = options.keepIr;
  settings.verify = options.verify;
  settings.flags = options.flags;
  settings.lockMilliseconds = static_cast<uint64_t>(options.lockTimeout.count());
  settings.linkMilliseconds = static_cast<uint64_t>(options.linkTimeout.count());
  return settings;
}

BuildOptions fromSettings(const BuildSettings& settings, std::string outputDir) {
  BuildOptions options;
  options.outputDir = std::move(outputDir);
  options.target = settings.target;
  options.kind = settings.isObject ? OutputKind::Object : OutputKind::SharedLibrary;
  options.force = settings.force;
  options.keepIr = settings.keepIr;
  options.verify = settings.verify;
  options.flags = settings.flags;
  options.lockTimeout = std::chrono::milliseconds(settings.lockMilliseconds);
  options.linkTimeout = std::chrono::milliseconds(settings.linkMilliseconds);
  return options;
}

BuildReply toReply(const BuildReport& report) {
  BuildReply reply;
  reply.state = static_cast<uint8_t>(report.state);
  reply.built = report.outcome.built;
  reply.key = report.outcome.key;
  reply.folder = report.outcome.folder;
  reply.library = report.outcome.library;
  reply.link = report.outcome.link;
  if (report.outcome.manifest)
    reply.manifest = compiler::toJson(*report.outcome.manifest);
  reply.buildSeconds = report.outcome.seconds;
  reply.seconds = report.seconds;
  reply.log = report.outcome.log;
  reply.failure = report.failure;
  return reply;
}

BuildReport fromReply(BuildReply reply) {
  if (reply.state > static_cast<uint8_t>(BuildState::Cancelled))
    throw Error("a worker reports the state " + std::to_string(reply.state) + " of a build");
  BuildReport report;
  report.state = static_cast<BuildState>(reply.state);
  if (report.succeeded() ? reply.manifest.empty() : !reply.failure)
    throw Error("a worker reports a build as " + std::string(toString(report.state)) +
                (report.succeeded() ? " without its manifest" : " without the reason"));
  report.outcome.built = reply.built;
  report.outcome.key = reply.key;
  report.outcome.folder = std::move(reply.folder);
  report.outcome.library = std::move(reply.library);
  report.outcome.link = std::move(reply.link);
  if (!reply.manifest.empty())
    report.outcome.manifest = std::make_shared<const compiler::Manifest>(
        compiler::parseManifest(reply.manifest, "a worker's manifest"));
  report.outcome.seconds = reply.buildSeconds;
  report.seconds = reply.seconds;
  report.outcome.log = std::move(reply.log);
  report.failure = std::move(reply.failure);
  return report;
}

void addBuildMessageTypes(caf::actor_system_config& config) {
  config.add_message_type<WorkerHello>("nocturne.WorkerHello")
      .add_message_type<BuildTask>("nocturne.BuildTask")
      .add_message_type<BuildDone>("nocturne.BuildDone");
}

} // namespace nocturne
