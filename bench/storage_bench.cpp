// Rates of the result cache and the run record at the size of a large sweep.
// usage: storage_bench [ROWS] [--random-keys] [--directory DIR]
// ROWS is 10 million when not given; --random-keys spreads the keys of a module over the whole
// index. Prints one line per figure: name, value, unit.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <string>

#include "storage/result_cache.h"
#include "storage/run_reader.h"
#include "storage/run_record.h"

namespace {

using namespace nocturne;
using Clock = std::chrono::steady_clock;

constexpr uint64_t kShard = kShardPoints;
constexpr uint64_t kPoints = 1024; // of each module

struct Arguments {
  uint64_t rows = 10'000'000;
  bool randomKeys = false;
  std::string directory;
};

Digest digestOf(const char* what, uint64_t n) {
  return Hasher().field(what).number(n).finish();
}

ResultRow makeRow(uint64_t n, bool randomKey) {
  ResultRow row;
  row.configuration = digestOf("configuration", n % kPoints);
  row.fingerprint = digestOf("module", n / kPoints);
  row.key = randomKey ? digestOf("key", n) : resultKey(row.configuration, row.fingerprint);
  row.success = true;
  row.runtime = 1e-6 * static_cast<double>(n + 1) / 7;
  row.flops = 1e9 + static_cast<double>(n) / 3;
  row.bytes = 4096.0 * static_cast<double>(n);
  row.coveredRuns = row.totalRuns = 400;
  return row;
}

// Time by both clocks, and sums of it.
struct Time {
  double wall = 0, processor = 0;
  Time& operator+=(const Time& other) {
    wall += other.wall;
    processor += other.processor;
    return *this;
  }
};

double processorSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Time timeOf(const std::function<void()>& work) {
  auto start = Clock::now();
  double processor = processorSeconds();
  work();
  return {std::chrono::duration<double>(Clock::now() - start).count(),
          processorSeconds() - processor};
}

void print(const char* name, double value, const char* unit) {
  std::printf("%-34s %14.0f %s\n", name, value, unit);
  std::fflush(stdout);
}

void printRate(const char* name, uint64_t count, const Time& time) {
  std::printf("%-34s %14.0f /s by the wall clock %14.0f /s by processor time\n", name,
              static_cast<double>(count) / time.wall, static_cast<double>(count) / time.processor);
  std::fflush(stdout);
}

void insertRows(ResultStore& store, const Arguments& arguments) {
  uint64_t shards = arguments.rows / kShard;
  Time total, lastTenth;
  std::vector<ResultRow> rows(kShard);
  for (uint64_t shard = 0; shard < shards; ++shard) {
    for (uint64_t i = 0; i < kShard; ++i)
      rows[i] = makeRow(shard * kShard + i, arguments.randomKeys);
    Time time = timeOf([&] {
      store.begin();
      store.put(rows);
      store.commit();
    });
    total += time;
    if (shard >= shards - shards / 10)
      lastTenth += time;
  }
  printRate("cache_insert", shards * kShard, total);
  if (shards >= 10)
    printRate("cache_insert_last_tenth", shards / 10 * kShard, lastTenth);
}

// Shards in a shuffled order, a batch of keys each.
void lookUp(const char* name, ResultStore& store, const Arguments& arguments, uint64_t offset) {
  uint64_t shards = arguments.rows / kShard;
  uint64_t batches = std::min<uint64_t>(shards, 4000);
  Time total;
  uint64_t hits = 0;
  std::vector<Digest> keys(kShard);
  for (uint64_t batch = 0; batch < batches; ++batch) {
    uint64_t shard = (batch * 7919) % shards;
    for (uint64_t i = 0; i < kShard; ++i)
      keys[i] = makeRow(offset + shard * kShard + i, arguments.randomKeys).key;
    total += timeOf([&] {
      for (const auto& row : store.find(keys))
        hits += row.has_value();
    });
  }
  if (hits != (offset == 0 ? batches * kShard : 0))
    std::abort();
  printRate(name, batches * kShard, total);
}

void benchCache(const Arguments& arguments) {
  std::string path = arguments.directory + "/cache.sqlite";
  {
    auto store = SqliteResultStore::create(path);
    insertRows(*store, arguments);
    lookUp("cache_find_hit", *store, arguments, 0);
    lookUp("cache_find_miss", *store, arguments, arguments.rows * 2);
  }
  print("cache_size", static_cast<double>(std::filesystem::file_size(path)) / 1e6, "MB");
  Time time = timeOf([&] { SqliteResultStore::create(path); });
  print("cache_open", time.wall * 1e6, "us");
}

SweepPlan makePlan(uint64_t modules) {
  SweepPlan plan;
  for (uint64_t i = 0; i < modules; ++i)
    plan.modules.push_back({std::to_string(i), std::to_string(i)});
  HardwareEntry machine;
  machine.base.name = machine.nameTemplate = "m{memory_bandwidth}";
  machine.base.values = Json::object();
  Axis axis{"memory_bandwidth", {}};
  for (uint64_t i = 0; i < kPoints; ++i)
    axis.values.push_back(static_cast<double>(i + 1));
  machine.grid.push_back(axis);
  plan.hardware.push_back(machine);
  EstimatorEntry estimator;
  estimator.name = "roofline";
  plan.estimators.push_back(estimator);
  return plan;
}

void benchRecord(const Arguments& arguments) {
  SweepPlan plan = makePlan(std::max<uint64_t>(1, arguments.rows / kPoints));
  uint64_t items = plan.modules.size() * kPoints;
  Time writing;
  {
    OpenedRun run = openRunRecord(arguments.directory, plan);
    for (uint64_t module = 0; module < plan.modules.size(); ++module)
      for (uint64_t first = 0; first < kPoints; first += kShard) {
        ShardRecord shard;
        shard.module = module;
        shard.firstPoint = first;
        shard.facts = ModuleFacts{};
        shard.statistics = "{}";
        for (uint64_t i = 0; i < kShard; ++i)
          shard.items.push_back({first + i, ItemStatus::Ok, false,
                                 makeRow(module * kPoints + first + i, false), std::nullopt});
        writing += timeOf([&] {
          run.record->begin();
          run.record->putShard(shard);
          run.record->commit();
        });
      }
    run.record->finish("complete");
  }
  printRate("record_insert", items, writing);
  std::string path = runRecordPath(arguments.directory);
  print("record_size", static_cast<double>(std::filesystem::file_size(path)) / 1e6, "MB");
  RunReader reader(arguments.directory);
  uint64_t seen = 0;
  Time reading = timeOf([&] { reader.forEachItem([&](const auto&, const auto&) { ++seen; }); });
  printRate("record_read", seen, reading);
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  std::string parent = std::filesystem::temp_directory_path().string();
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--random-keys")
      arguments.randomKeys = true;
    else if (word == "--directory" && i + 1 < argc)
      parent = argv[++i];
    else
      arguments.rows = std::max<uint64_t>(kPoints, std::strtoull(word.c_str(), nullptr, 10));
  }
  arguments.directory = parent + "/nocturne-storage-bench";
  return arguments;
}

} // namespace

int main(int argc, char** argv) {
  Arguments arguments = parse(argc, argv);
  std::filesystem::remove_all(arguments.directory);
  std::filesystem::create_directories(arguments.directory);
  benchCache(arguments);
  benchRecord(arguments);
  std::filesystem::remove_all(arguments.directory);
  return 0;
}
