// What the actors cost beside the work they carry: estimators that do next to nothing, files of a
// few words, stores in memory and in SQLite. usage: actors_bench [JOBS]   prints one line per
// figure: name, value, unit
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "storage/result_cache.h"
#include "storage/run_record.h"
#include "tests/actors/fakes.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {

std::vector<std::string> distinctFiles(const World& world, int count) {
  std::vector<std::string> files;
  for (int i = 0; i < count; ++i) {
    std::string ops = "add";
    for (int bit = 0; bit < 16; ++bit)
      ops += (i >> bit & 1) != 0 ? " mul" : " add";
    files.push_back(world.folder.write(std::string("m").append(std::to_string(100000 + i)), ops));
  }
  return files;
}

SweepOutcome mustRun(const SweepPlan& plan, const SweepServices& services, int jobs) {
  SweepOutcome outcome = runSweep(plan, services, {.jobs = jobs});
  if (outcome.kind != SweepOutcome::Kind::Complete) {
    std::fprintf(stderr, "actors_bench: %s\n", outcome.message.c_str());
    std::exit(1);
  }
  return outcome;
}

void print(const char* name, int jobs, double value, const char* unit) {
  std::printf("%s\tjobs=%d\t%.2f\t%s\n", name, jobs, value, unit);
  std::fflush(stdout);
}

// Shards of one item each: all that is left is the cost of a shard.
void overheadPerShard(int jobs) {
  World world;
  world.record.keepItems = false;
  SweepPlan plan = tinyPlan(distinctFiles(world, 20000), 1);
  SweepOutcome cold = mustRun(plan, world.services(), jobs);
  print("cold shard of one item, in memory", jobs, 1e6 * cold.seconds / 20000, "us");
  world.record.shards.clear();
  SweepOutcome warm = mustRun(plan, world.services(), jobs);
  print("warm shard of one item, in memory", jobs, 1e6 * warm.seconds / 20000, "us");
}

void pointsOfOneModule(int jobs) {
  World world;
  world.record.keepItems = false;
  SweepPlan plan = tinyPlan(distinctFiles(world, 1), 10000);
  SweepOutcome cold = mustRun(plan, world.services(), jobs);
  print("points of one module, in memory", jobs, 10000 / cold.seconds, "1/s");
}

void withFiles(int jobs) {
  World world;
  SweepPlan plan = tinyPlan(distinctFiles(world, 1000), 100);
  plan.cacheMode = CacheMode::OnDisk;
  for (const char* round : {"cold results, SQLite", "warm results, SQLite"}) {
    std::vector<std::string> warnings;
    std::string folder = world.folder.path() / "out";
    std::filesystem::remove_all(folder);
    OpenedCache cache = openResultCache(world.folder.path() / "cache", CacheMode::OnDisk, warnings);
    OpenedRun run = openRunRecord(folder, plan);
    SweepServices services{world.reader, world.registry, *cache.store, *run.record, nullptr};
    SweepOutcome outcome = mustRun(plan, services, jobs);
    print(round, jobs, 1e5 / outcome.seconds, "1/s");
  }
}

} // namespace

int main(int argc, char** argv) {
  int jobs = argc > 1 ? std::atoi(argv[1]) : 1;
  overheadPerShard(jobs);
  pointsOfOneModule(jobs);
  withFiles(jobs);
  return 0;
}
