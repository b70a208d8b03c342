// The cache actor, one message at a time and with a clock that stands still.
#include "actors/cache_actor.h"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

#include <doctest/doctest.h>

#include "actors/actor_policy.h"
#include "tests/actors/fakes.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {

struct Config : caf::actor_system_config {
  Config() { set("scheduler.policy", caf::atom("testing")); }
};

// Plays the supervisor and writes down what it hears.
SupervisorHandle::behavior_type listener(SupervisorHandle::pointer self, StoreLog* log,
                                         CacheHandle cache) {
  self->set_default_handler(caf::drop);
  self->request(cache, kCacheDeadline, OpenRecord{}).then([](const DoneShards&) {});
  return {
      [](RunRequest) { return RunReport{}; },
      [](const FilesReady&) {},
      [](const WorkerIdle&) {},
      [log](const Committed& committed) {
        log->add("told " + std::to_string(committed.shards.size()));
      },
      [log](const ShardsReturned& back) {
        log->add("returned " + std::to_string(back.shards.size()));
      },
      [log](const RecordFailed& failed) { log->add("failed: " + failed.message); },
      [](StopRequest) {},
      [](GraceOver) {},
  };
}

struct Fixture {
  Fixture() : scheduler(dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler())) {
    addTestEstimators(registry);
    plan = std::make_shared<const ShardPlan>(tinyPlan({"a", "b", "c"}, 100), registry.lookup());
    cache = system.spawn(cacheActor, CacheSetup{&store, &record, claims, plan, "fake reader", {}});
    supervisor = system.spawn(listener, &log, cache);
    scheduler.run();
  }
  ~Fixture() {
    caf::anon_send_exit(cache, caf::exit_reason::kill);
    caf::anon_send_exit(supervisor, caf::exit_reason::kill);
    scheduler.run();
  }
  Put shardPut(uint64_t module, bool urgent) {
    Put put;
    put.worker = 1;
    put.urgent = urgent;
    ShardDone done;
    done.record.module = module;
    done.record.items.resize(100);
    done.tally = {module, 0, 100, 0, 100, 0, 0, 100};
    put.shards.push_back(std::move(done));
    return put;
  }
  void send(Put put) {
    caf::anon_send(cache, std::move(put));
    scheduler.run();
  }
  Config config;
  caf::actor_system system{config};
  caf::scheduler::test_coordinator& scheduler;
  EstimatorRegistry registry;
  StoreLog log;
  FakeStore store{&log};
  FakeRecord record{&log};
  std::shared_ptr<ClaimTable> claims = std::make_shared<ClaimTable>(100);
  std::shared_ptr<const ShardPlan> plan;
  CacheHandle cache;
  SupervisorHandle supervisor;
};

} // namespace

TEST_CASE("a shard is acknowledged only after the commit, which waits for more") {
  Fixture f;
  f.send(f.shardPut(0, false));
  f.send(f.shardPut(1, false));
  CHECK(f.log.all().empty());
  f.scheduler.advance_time(kFlushAfter);
  f.scheduler.run();
  CHECK(f.log.all() == std::vector<std::string>{"record commit 2", "told 2"});
}

TEST_CASE("256 rows are committed at once") {
  Fixture f;
  f.send(f.shardPut(0, false));
  f.send(f.shardPut(1, false));
  f.send(f.shardPut(2, false));
  CHECK(f.log.all() == std::vector<std::string>{"record commit 3", "told 3"});
}

TEST_CASE("nothing is waited for when a worker has nothing else to do") {
  Fixture f;
  f.send(f.shardPut(0, true));
  CHECK(f.log.all() == std::vector<std::string>{"record commit 1", "told 1"});
}

TEST_CASE("what a dead worker had put is committed before its claims pass on") {
  Fixture f;
  f.send(f.shardPut(0, false));
  caf::anon_send(f.cache, WorkerGone{1});
  f.scheduler.run();
  CHECK(f.log.all() == std::vector<std::string>{"record commit 1", "told 1"});
}

TEST_CASE("a full disk is told once, with the shards that are lost by it") {
  Fixture f;
  f.record.capacity = 1;
  f.send(f.shardPut(0, true));
  f.send(f.shardPut(1, true));
  f.send(f.shardPut(2, true));
  CHECK(f.log.all() == std::vector<std::string>{"record commit 1", "told 1",
                                                "failed: the disk is full", "returned 1",
                                                "returned 1"});
}
