// The supervisor of builds, with workers that are no processes.
#include "actors/build_supervisor.h"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>

#include <doctest/doctest.h>

using namespace nocturne;

namespace {

// One module that is to be built by what `factory` starts.
BuildSupervisorSetup setupWith(BuildWorkerFactory factory) {
  BuildSupervisorSetup setup;
  setup.queue = std::make_shared<BuildQueue>(
      std::vector<compiler::BatchItem>{{hashBytes("module"), "out", 1}});
  setup.tasks.resize(1);
  setup.workers = 4;
  setup.restartLimit = 3;
  setup.startWorker = std::move(factory);
  return setup;
}

BuildsOver run(BuildSupervisorSetup setup) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  BuildsOver over;
  self->request(system.spawn(buildSupervisorActor, std::move(setup)), caf::infinite,
                BuildsRequest{})
      .receive([&](const BuildsOver& answer) { over = answer; },
               [&](const caf::error& error) { over.problem = system.render(error); });
  return over;
}

} // namespace

TEST_CASE("a bug of the supervisor ends the batch and says so") {
  BuildSupervisorSetup setup = setupWith([](WorkerNumber, auto) -> std::unique_ptr<BuildWorker> {
    throw std::runtime_error("no thread today");
  });
  setup.onProgress = [](const BuildQueue&) { throw std::logic_error("a bug"); };
  const std::shared_ptr<BuildQueue> queue = setup.queue;
  CHECK(run(std::move(setup)).problem == "the supervisor of builds died: a bug");
  CHECK(queue->finished());
}

TEST_CASE("workers that cannot be started beside others are done without") {
  int tries = 0;
  BuildSupervisorSetup setup = setupWith([&](WorkerNumber, auto) -> std::unique_ptr<BuildWorker> {
    ++tries;
    throw std::runtime_error("no thread today");
  });
  std::vector<compiler::BatchItem> items;
  for (int i = 0; i < 12; ++i)
    items.push_back({hashBytes(std::to_string(i)), "out", 1});
  setup.queue = std::make_shared<BuildQueue>(std::move(items));
  setup.tasks.resize(12);
  setup.workers = 12;
  CHECK(run(std::move(setup)).problem.starts_with("4 processes")); // not all 12, but the last alone
  CHECK(tries == 15);
}

TEST_CASE("a batch whose workers cannot even be started ends and says why") {
  int tries = 0;
  BuildSupervisorSetup setup = setupWith([&](WorkerNumber, auto) -> std::unique_ptr<BuildWorker> {
    ++tries;
    throw std::runtime_error("no thread today");
  });
  const std::shared_ptr<BuildQueue> queue = setup.queue;
  const BuildsOver over = run(std::move(setup));
  CHECK(over.problem.find("no thread today") != std::string::npos);
  CHECK(tries == 4); // the restart limit and one more
  CHECK(queue->ledger().count(compiler::BuildState::Cancelled) == 1);
}
