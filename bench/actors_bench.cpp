// What the actors cost beside the work they carry: estimators that do next to nothing, files of a
// few words, stores in memory and in SQLite. usage: actors_bench [JOBS]   prints one line per
// figure: name, value, unit
#include <cstdio>
#include <cstdlib>
#include <ctime>
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

double processorSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Runs a plan and prints what one of `count` things took: by the clock, and of processor time,
// which on a busy machine is what can be compared.
void measure(const char* name, double count, const SweepPlan& plan, const SweepServices& services,
             int jobs) {
  double before = processorSeconds();
  SweepOutcome outcome = runSweep(plan, services, {.jobs = jobs});
  double busy = processorSeconds() - before;
  if (outcome.kind != SweepOutcome::Kind::Complete) {
    std::fprintf(stderr, "actors_bench: %s\n", outcome.message.c_str());
    std::exit(1);
  }
  std::printf("%s\tjobs=%d\t%.2f us\t%.2f us of processor time\n", name, jobs,
              1e6 * outcome.seconds / count, 1e6 * busy / count);
  std::fflush(stdout);
}

// Shards of one item each: all that is left is the cost of a shard.
void overheadPerShard(int jobs) {
  World world;
  world.record.keepItems = false;
  SweepPlan plan = tinyPlan(distinctFiles(world, 20000), 1);
  measure("cold shard of one item, in memory", 20000, plan, world.services(), jobs);
  world.record.shards.clear();
  measure("warm shard of one item, in memory", 20000, plan, world.services(), jobs);
}

void pointsOfOneModule(int jobs) {
  World world;
  world.record.keepItems = false;
  SweepPlan plan = tinyPlan(distinctFiles(world, 1), 10000);
  measure("point of one module, in memory", 10000, plan, world.services(), jobs);
}

void withFiles(int jobs) {
  World world;
  SweepPlan plan = tinyPlan(distinctFiles(world, 1000), 100);
  plan.cacheMode = CacheMode::OnDisk;
  for (const char* round : {"cold item, SQLite", "warm item, SQLite"}) {
    std::vector<std::string> warnings;
    std::string folder = world.folder / "out";
    std::filesystem::remove_all(folder);
    OpenedCache cache = openResultCache(world.folder / "cache", CacheMode::OnDisk, warnings);
    OpenedRun run = openRunRecord(folder, plan);
    SweepServices services{world.reader, world.registry, *cache.store, *run.record, nullptr};
    measure(round, 1e5, plan, services, jobs);
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
