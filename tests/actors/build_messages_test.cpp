// What goes between a supervisor of builds and its workers.
#include "actors/build_messages.h"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/deep_to_string.hpp>
#include <caf/scoped_actor.hpp>

#include <doctest/doctest.h>

#include "actors/build_door.h"
#include "actors/build_worker.h"
#include "compiler/drivers/manifest.h"

using namespace nocturne;
using compiler::BuildOptions;
using compiler::BuildReport;
using compiler::BuildState;

namespace {

template <typename T>
T overTheWire(T message) {
  std::vector<char> bytes;
  caf::binary_serializer sink(nullptr, bytes);
  REQUIRE_FALSE(static_cast<bool>(sink(message)));
  T copy;
  caf::binary_deserializer source(nullptr, bytes);
  REQUIRE_FALSE(static_cast<bool>(source(copy)));
  return copy;
}

// Stands where the supervisor does, and tells a test what it hears.
BuildSupervisorHandle::behavior_type ear(BuildSupervisorHandle::pointer, caf::actor listener) {
  return {
      [](BuildsRequest) { return BuildsOver{}; },
      [listener](const WorkerReady& ready) { caf::anon_send(listener, ready.worker); },
      [listener](const TaskDone& done) { caf::anon_send(listener, done.done.ticket); },
      [](const WorkerEnded&) {},
      [](const WorkerDeadline&) {},
      [](const TaskDeadline&) {},
      [](StopRequest) {},
      [](GraceOver) {},
  };
}

} // namespace

TEST_CASE("the options of a build survive the way to a worker") {
  BuildOptions options;
  options.target = "cpu --arch=x86-64-v4";
  options.kind = compiler::OutputKind::Object;
  options.force = options.keepIr = options.verify = true;
  options.flags = {"--opt-level=1"};
  options.lockTimeout = std::chrono::milliseconds(17);
  options.linkTimeout = std::chrono::milliseconds(18);
  BuildTask task;
  task.ticket = 5;
  task.name = "m";
  task.path = "m.mlir";
  task.contentHash = hashBytes("x");
  task.outputDir = "out/m";
  task.settings = toSettings(options);
  const BuildTask there = overTheWire(task);
  CHECK(caf::deep_to_string(there) == caf::deep_to_string(task));
  const BuildOptions copy = fromSettings(there.settings, there.outputDir);
  CHECK(copy.outputDir == "out/m");
  CHECK(copy.target == options.target);
  CHECK((copy.kind == options.kind));
  CHECK((copy.force && copy.keepIr && copy.verify));
  CHECK(copy.flags == options.flags);
  CHECK(copy.lockTimeout == options.lockTimeout);
  CHECK(copy.linkTimeout == options.linkTimeout);
}

TEST_CASE("the report of a build survives the way back") {
  BuildReport report;
  report.state = BuildState::Built;
  report.seconds = 2;
  report.outcome.built = true;
  report.outcome.key = hashBytes("k");
  report.outcome.folder = "f";
  report.outcome.library = "f/lib.so";
  report.outcome.link = "lib.so";
  report.outcome.seconds = 1;
  report.outcome.log = "log";
  compiler::Manifest manifest;
  manifest.key = report.outcome.key;
  manifest.library = "lib.so";
  report.outcome.manifest = std::make_shared<const compiler::Manifest>(manifest);
  const BuildReport copy = fromReply(overTheWire(toReply(report)));
  CHECK((copy.state == BuildState::Built));
  CHECK(copy.seconds == 2);
  CHECK(copy.outcome.built);
  CHECK(copy.outcome.key == report.outcome.key);
  CHECK(copy.outcome.folder == "f");
  CHECK(copy.outcome.library == "f/lib.so");
  CHECK(copy.outcome.link == "lib.so");
  CHECK(copy.outcome.seconds == 1);
  CHECK(copy.outcome.log == "log");
  REQUIRE(copy.outcome.manifest);
  CHECK(*copy.outcome.manifest == manifest);
}

TEST_CASE("the failure of a build survives the way back") {
  BuildReport report;
  report.state = BuildState::Failed;
  report.failure = Failure{FailureKind::UnsupportedOp, "m", "f", 1, 2};
  const BuildReport copy = fromReply(overTheWire(toReply(report)));
  CHECK((copy.state == BuildState::Failed));
  CHECK(copy.failure == report.failure);
  CHECK_FALSE(copy.outcome.manifest);
}

TEST_CASE("a reply that is no report of a build is refused") {
  BuildReply reply;
  reply.failure = Failure{FailureKind::Internal, "m", "", 0, 0};
  for (const uint8_t state : {4, 255}) {
    reply.state = state;
    CHECK_THROWS_AS(fromReply(reply), Error);
  }
  reply.state = static_cast<uint8_t>(BuildState::Built);
  CHECK_THROWS_AS(fromReply(reply), Error); // without its manifest
  reply.state = static_cast<uint8_t>(BuildState::Failed);
  CHECK((fromReply(reply).state == BuildState::Failed));
  reply.failure.reset();
  CHECK_THROWS_AS(fromReply(reply), Error);
}

TEST_CASE("the door hears who has the token, and afterwards nobody else under that number") {
  caf::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor worker{system}, stranger{system}, listener{system};
  const BuildSupervisorHandle supervisor = system.spawn(ear, caf::actor_cast<caf::actor>(listener));
  const BuildDoorHandle door = system.spawn(buildDoorActor, std::string("secret"), supervisor);
  const auto heard = [&] {
    uint64_t number = 0;
    listener->receive([&](uint64_t value) { number = value; });
    return number;
  };
  stranger->send(door, WorkerHello{1, "guess"});
  stranger->send(door, WorkerHello{2, "secre7"});
  stranger->send(door, WorkerHello{3, ""});
  worker->send(door, WorkerHello{4, "secret"});
  CHECK(heard() == 4);
  stranger->send(door, BuildDone{4, 10, {}});
  stranger->send(door, BuildDone{1, 11, {}});
  worker->send(door, BuildDone{4, 12, {}});
  CHECK(heard() == 12);
}

TEST_CASE("workers serve their own machine only") {
  CHECK(loopbackPort("127.0.0.1:65535") == 65535);
  for (const char* address : {"127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536",
                              "127.0.0.1:8o", "localhost:80", "10.0.0.1:80", "0.0.0.0:80", ""})
    CHECK_THROWS_AS(loopbackPort(address), UsageError);
}

TEST_CASE("a pass is read as it is written") {
  const BuildWorkerPass pass = passFromText(toText({0, 12, "abc"}), 80);
  CHECK(pass.port == 80);
  CHECK(pass.worker == 12);
  CHECK(pass.token == "abc");
  for (const char* text : {"", "\n", "12", "12 abc", "abc 12\n", " abc\n"})
    CHECK_THROWS_AS(passFromText(text, 80), UsageError);
}
