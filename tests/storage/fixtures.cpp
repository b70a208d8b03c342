#include "tests/storage/fixtures.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <grp.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nocturne::test {

namespace fs = std::filesystem;

SmallDisk::SmallDisk(const std::string& mountPoint, const std::string& size)
    : mountPoint_(mountPoint) {
  fs::create_directories(mountPoint);
  std::string options = "size=" + size;
  mounted_ = ::mount("nocturne-test", mountPoint.c_str(), "tmpfs", 0, options.c_str()) == 0;
}

SmallDisk::~SmallDisk() {
  if (mounted_)
    ::umount2(mountPoint_.c_str(), MNT_DETACH);
}

Child::Child(const std::function<int(const std::function<void()>& signal)>& work) {
  int ends[2];
  if (::pipe(ends) != 0)
    throw std::runtime_error("pipe failed");
  pid_ = ::fork();
  if (pid_ == 0) {
    ::close(ends[0]);
    int code = 99;
    try {
      code = work([&] { static_cast<void>(!::write(ends[1], "x", 1)); });
    } catch (...) {
    }
    ::_exit(code);
  }
  ::close(ends[1]);
  readEnd_ = ends[0];
}

Child::~Child() {
  if (pid_ > 0)
    kill();
  ::close(readEnd_);
}

void Child::awaitSignal() {
  char byte;
  static_cast<void>(!::read(readEnd_, &byte, 1));
}

void Child::kill() {
  ::kill(pid_, SIGKILL);
  exitCode();
}

int Child::exitCode() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int asNobody(const std::function<int()>& work) {
  Child child([&](const auto&) {
    if (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0)
      return 98;
    return work();
  });
  return child.exitCode();
}

bool runsAsRoot() {
  return ::geteuid() == 0;
}

void scribble(const std::string& path, long offset, size_t size) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(offset);
  for (size_t i = 0; i < size; ++i)
    file.put(static_cast<char>(0xa5 ^ (i * 31)));
}

bool exists(const std::string& path) {
  return fs::exists(path);
}

std::vector<std::string> namesWith(const std::string& directory, const std::string& prefix) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory))
    if (std::string name = entry.path().filename().string(); name.starts_with(prefix))
      names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

std::string firstValue(const std::string& database, const std::string& sql) {
  sqlite3* handle = nullptr;
  std::string value = "error";
  auto keep = [](void* out, int count, char** values, char**) {
    if (count > 0 && values[0])
      *static_cast<std::string*>(out) = values[0];
    return 0;
  };
  if (sqlite3_open(database.c_str(), &handle) == SQLITE_OK) {
    sqlite3_busy_timeout(handle, 10'000);
    sqlite3_exec(handle, sql.c_str(), keep, &value, nullptr);
  }
  sqlite3_close(handle);
  return value;
}

} // namespace

long long countRows(const std::string& database, const std::string& table) {
  std::string value = firstValue(database, "SELECT count(*) FROM " + table);
  return value == "error" ? -1 : std::stoll(value);
}

std::string integrity(const std::string& database) {
  return firstValue(database, "PRAGMA integrity_check");
}

void executeSql(const std::string& database, const std::string& sql) {
  firstValue(database, sql);
}

Digest digestOf(const std::string& text) {
  return hashBytes(text);
}

ResultRow makeRow(uint64_t n) {
  ResultRow row;
  row.key = digestOf("key " + std::to_string(n));
  row.configuration = digestOf("configuration " + std::to_string(n % 256));
  row.fingerprint = digestOf("module " + std::to_string(n / 256));
  row.success = n % 7 != 3;
  row.flops = 1e9 + static_cast<double>(n) / 3;
  row.bytes = 12345.0 * static_cast<double>(n);
  row.coveredRuns = static_cast<double>(n % 100);
  row.totalRuns = 100;
  if (row.success) {
    row.runtime = 1e-6 * static_cast<double>(n + 1) / 7;
    row.notes = n % 5 == 0 ? R"({"uncovered":[["custom_call:f",2.0]]})" : "";
  } else {
    row.failure = FailureKind::UnsupportedOp;
    row.failureMessage = "no rule for stablehlo.sort";
    row.failureOp = static_cast<int64_t>(n);
  }
  return row;
}

std::vector<ResultRow> makeRows(uint64_t first, uint64_t count) {
  std::vector<ResultRow> rows;
  for (uint64_t n = first; n < first + count; ++n)
    rows.push_back(makeRow(n));
  return rows;
}

std::vector<Digest> keysOf(const std::vector<ResultRow>& rows) {
  std::vector<Digest> keys;
  for (const ResultRow& row : rows)
    keys.push_back(row.key);
  return keys;
}

ModuleFacts makeFacts(const std::string& content) {
  ModuleFacts facts;
  facts.contentHash = hashBytes(content);
  facts.fingerprint = digestOf("fingerprint of " + content);
  facts.rows = 17;
  facts.collectives = 2.5;
  facts.collectiveBytes = 1e12;
  facts.peakBytes = 4096;
  facts.assumptions = {{"trip_count", "1", "a.mlir:3:5"}, {"entry", "f\"\n", ""}};
  return facts;
}

SweepPlan makePlan(const std::string& directory, uint64_t modules, uint64_t points) {
  SweepPlan plan;
  for (uint64_t i = 0; i < modules; ++i) {
    std::string name = "m" + std::to_string(i) + ".mlir";
    writeText(directory + "/" + name, "module " + std::to_string(i));
    plan.modules.push_back({directory + "/" + name, name});
  }
  HardwareEntry machine;
  machine.base.name = "machine";
  machine.nameTemplate = "machine-{memory_bandwidth}";
  machine.base.values = {{"peak_flops", 1e12}, {"memory_bandwidth", 1e9}};
  Axis axis{"memory_bandwidth", {}};
  for (uint64_t i = 0; i < points; ++i)
    axis.values.push_back(static_cast<double>(i + 1));
  machine.grid.push_back(axis);
  plan.hardware.push_back(machine);
  EstimatorEntry estimator;
  estimator.name = "roofline";
  plan.estimators.push_back(estimator);
  return plan;
}

ShardRecord makeShard(const SweepPlan& plan, uint64_t module, uint64_t firstPoint, uint64_t items) {
  ShardRecord shard;
  shard.module = module;
  shard.firstPoint = firstPoint;
  shard.facts = makeFacts(readText(plan.modules[module].path));
  shard.statistics = R"({"shard":)" + std::to_string(firstPoint) + "}";
  shard.attempts = 2;
  for (uint64_t i = 0; i < items; ++i) {
    ItemRecord& item = shard.items.emplace_back();
    item.point = firstPoint + i;
    item.result = makeRow(0);
    item.result.key = digestOf(std::to_string(module) + "/" + std::to_string(item.point));
    item.result.configuration = {};
    item.result.fingerprint = shard.facts->fingerprint;
    item.result.runtime = 1e-3 * static_cast<double>(item.point + 1);
    item.fromCache = i % 2 == 0;
    item.status = i == 3 ? ItemStatus::Failed : ItemStatus::Ok;
    if (i != 3)
      continue;
    item.failure = Failure{FailureKind::TimedOut, "took too long", "a.mlir", 12, 7};
    item.result.success = false;
    item.result.failure = item.failure->kind;
    item.result.failureMessage = item.failure->message;
    item.result.failureOp = 4;
  }
  return shard;
}

} // namespace nocturne::test
