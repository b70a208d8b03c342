#include "tests/actors/fakes.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <unistd.h>

namespace nocturne::test {

// --- Reader

ModulePtr FakeReader::read(const std::string& path) {
  ++reads;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw ItemError({FailureKind::Unreadable, "cannot open the file", path, 0, 0});
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::string line = text.substr(0, text.find('\n'));
  if (line.starts_with("broken"))
    throw ItemError({FailureKind::Unreadable, "this is no module", path, 2, 3});
  ModuleBuilder builder(std::filesystem::path(path).stem().string());
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    OpInfo op;
    op.name = "test." + word;
    op.results.push_back(TensorType{{ElementKind::F32, ElementKind::None}, {4}, true});
    builder.add(op);
  }
  auto module = std::make_shared<Module>(builder.build());
  module->path = path;
  module->files = {path};
  module->contentHash = hashBytes(text);
  module->fingerprint = hashBytes(line);
  for (size_t i = 0; i < module->rows.size(); ++i) {
    module->rows[i].line = static_cast<uint32_t>(10 + i);
    module->rows[i].column = 5;
  }
  return module;
}

// --- Stores

void StoreLog::add(std::string line) {
  std::lock_guard lock(mutex);
  lines.push_back(std::move(line));
}

std::vector<std::string> StoreLog::all() {
  std::lock_guard lock(mutex);
  return lines;
}

void FakeStore::check() const {
  if (broken)
    throw StorageError(StorageErrorKind::Other, "the cache is broken");
}

void FakeStore::begin() {
  check();
  putRows_ = 0;
}

void FakeStore::commit() {
  check();
  if (log_ != nullptr)
    log_->add(std::string("cache commit ").append(std::to_string(putRows_)));
}

std::vector<std::optional<ResultRow>> FakeStore::find(std::span<const Digest> keys) {
  check();
  std::vector<std::optional<ResultRow>> found(keys.size());
  for (size_t i = 0; i < keys.size(); ++i)
    if (auto row = rows.find(keys[i]); row != rows.end())
      found[i] = row->second;
  return found;
}

void FakeStore::put(std::span<const ResultRow> newRows) {
  check();
  putRows_ += newRows.size();
  for (const ResultRow& row : newRows)
    rows.try_emplace(row.key, row);
}

std::optional<FileEntry> FakeStore::findFile(const Digest& contentHash, const std::string&,
                                             bool withTable) {
  check();
  auto found = files.find(contentHash);
  if (found == files.end())
    return std::nullopt;
  FileEntry entry = found->second;
  if (!withTable)
    entry.table.clear();
  else
    ++tablesGiven;
  return entry;
}

void FakeStore::putFile(const FileEntry& entry) {
  check();
  files.try_emplace(entry.contentHash, entry);
}

void FakeStore::putConfiguration(const Digest& configuration, const std::string& estimator,
                                 const std::string& options) {
  check();
  configurations.try_emplace(configuration, estimator + " " + options);
}

void FakeRecord::putShard(const ShardRecord& shard) {
  if (shards.size() + pending_.size() >= capacity)
    throw StorageError(StorageErrorKind::Full, "the disk is full");
  pending_.push_back(shard);
}

void FakeRecord::commit() {
  if (log_ != nullptr)
    log_->add("record commit " + std::to_string(pending_.size()));
  for (ShardRecord& shard : pending_) {
    if (!keepItems)
      shard.items = {};
    repeatedShards += shards.contains({shard.module, shard.firstPoint});
    shards[{shard.module, shard.firstPoint}] = std::move(shard);
  }
  pending_.clear();
  if (onCommit)
    onCommit(shards.size());
}

std::vector<std::pair<uint64_t, uint64_t>> FakeRecord::doneShards() {
  std::vector<std::pair<uint64_t, uint64_t>> done;
  for (const auto& [place, shard] : shards)
    done.push_back(place);
  return done;
}

void FakeRecord::finish(const std::string& text) {
  outcome = text;
}

size_t FakeRecord::itemCount() const {
  size_t count = 0;
  for (const auto& [place, shard] : shards)
    count += shard.items.size();
  return count;
}

std::string FakeRecord::text() const {
  std::ostringstream out;
  for (const auto& [place, shard] : shards) {
    out << "module " << shard.module << " first " << shard.firstPoint;
    if (shard.facts)
      out << " fingerprint " << shard.facts->fingerprint.hex();
    out << '\n';
    for (const ItemRecord& item : shard.items) {
      const ResultRow& row = item.result;
      out << item.point << ' ' << static_cast<int>(item.status) << ' ' << row.key.hex() << ' '
          << std::hexfloat << row.runtime.value_or(-1) << ' ' << row.flops << ' ' << row.coveredRuns
          << '/' << row.totalRuns << ' ' << row.notes;
      if (item.failure)
        out << ' ' << toString(item.failure->kind) << ' ' << item.failure->text();
      out << '\n';
    }
  }
  return out.str();
}

StatisticsTree FakeRecord::mergedStatistics() const {
  StatisticsTree tree;
  for (const auto& [place, shard] : shards)
    if (!shard.statistics.empty())
      tree.merge(StatisticsTree::deserialise(shard.statistics));
  return tree;
}

// --- Estimators

std::atomic<int> TinyEstimator::estimates{0};

void TinyEstimator::describe(EstimatorClass<TinyEstimator>& c) {
  c.name("tiny").version(1).extends<ComputeEstimator>().allowMultiprocess().hitsNeedNoModule();
  c.option("rate", &TinyEstimator::rate_, option::positive).defaultValue(1).help("per second");
  c.opHandler({"test.add", "test.mul"}, &TinyEstimator::add);
  c.opHandler({"test.bad"}, &TinyEstimator::refuse);
  c.opHandler({"test.bug"}, &TinyEstimator::fail);
  c.preRunHook(&TinyEstimator::count);
}

OpResult TinyEstimator::add(const OpInfo& op) {
  OpResult result;
  result.runtime = (op.name == "test.add" ? 1 : 3) / rate_;
  result.flops = 4;
  return result;
}

OpResult TinyEstimator::refuse(const OpInfo&) {
  throw ItemError({FailureKind::UnsupportedOp, "tiny has no rule for bad", "", 0, 0});
}

OpResult TinyEstimator::fail(const OpInfo&) {
  throw std::runtime_error("a bug in the handler");
}

void TinyEstimator::count(const Module&) {
  ++estimates;
  estimateGate().pass();
}

std::mutex LonelyEstimator::mutex;
std::set<std::thread::id> LonelyEstimator::threads;
std::vector<std::string> LonelyEstimator::modules;

void LonelyEstimator::describe(EstimatorClass<LonelyEstimator>& c) {
  c.name("lonely").version(1).extends<ComputeEstimator>().hitsNeedNoModule();
  c.opHandler({"test.add", "test.mul"}, &LonelyEstimator::add);
  c.preRunHook(&LonelyEstimator::look);
}

OpResult LonelyEstimator::add(const OpInfo&) {
  OpResult result;
  result.runtime = 2;
  return result;
}

void LonelyEstimator::look(const Module& module) {
  std::lock_guard lock(mutex);
  threads.insert(std::this_thread::get_id());
  modules.push_back(module.path);
}

std::atomic<int> CuriousEstimator::hits{0};

void CuriousEstimator::describe(EstimatorClass<CuriousEstimator>& c) {
  c.name("curious").version(1).extends<ComputeEstimator>().allowMultiprocess();
  c.opHandler({"test.add", "test.mul"}, &CuriousEstimator::add);
  c.cacheHitHook(&CuriousEstimator::look);
}

OpResult CuriousEstimator::add(const OpInfo&) {
  OpResult result;
  result.runtime = 2;
  return result;
}

void CuriousEstimator::look(const Module& module, const std::string&) {
  hits += module.rows.empty() ? 0 : 1;
}

void TalkingEstimator::describe(EstimatorClass<TalkingEstimator>& c) {
  c.name("talking").version(1).extends<ComputeEstimator>().allowMultiprocess();
  c.option("rate", &TalkingEstimator::rate_, option::positive).defaultValue(1).help("per second");
  c.opHandler({"test.add", "test.mul", "test.bad", "test.bug"}, &TalkingEstimator::add);
  c.preRunHook(&TalkingEstimator::begin).postRunHook(&TalkingEstimator::end);
  c.cacheHitHook(&TalkingEstimator::hit).metadataHook(&TalkingEstimator::metadata);
  c.mergeWith<&TalkingEstimator::mergeSeen>();
}

OpResult TalkingEstimator::add(const OpInfo&) {
  OpResult result;
  result.runtime = 1 / rate_;
  return result;
}

void TalkingEstimator::begin(const Module& module) {
  addEvent("begin", 0, "s", {{"ops", module.ops.size()}});
}

void TalkingEstimator::end(const Module& module, const ModuleResult& result) {
  addEvent("end", result.runtime.value_or(0), "s");
  modules_.insert(module.fingerprint.hex());
  ++runs_;
  statistics().root().valueMember("last_rate").sample(rate_, nextPlace());
}

void TalkingEstimator::hit(const Module&, const std::string&) {
  addEvent("hit", 0);
  ++hits_;
}

Json TalkingEstimator::metadata() {
  return {{"runs", runs_}, {"hits", hits_}, {"modules", modules_}, {"rate", rate_}};
}

void TalkingEstimator::mergeSeen(const TalkingEstimator& other) {
  runs_ += other.runs_;
  hits_ += other.hits_;
  modules_.insert(other.modules_.begin(), other.modules_.end());
}

void addTestEstimators(EstimatorRegistry& registry) {
  registry.add<TinyEstimator>();
  registry.add<LonelyEstimator>();
  registry.add<CuriousEstimator>();
  registry.add<TalkingEstimator>();
}

void Gate::open() {
  {
    std::lock_guard lock(mutex_);
    open_ = true;
  }
  changed_.notify_all();
}

void Gate::close() {
  std::lock_guard lock(mutex_);
  open_ = false;
  visitors_ = 0;
}

void Gate::pass() {
  std::unique_lock lock(mutex_);
  ++visitors_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return open_; });
}

void Gate::waitForVisitors(int count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return visitors_ >= count; });
}

Gate& estimateGate() {
  static Gate gate;
  return gate;
}

// --- Plans

EstimatorEntry tinyEntry(int points) {
  EstimatorEntry entry;
  entry.name = "tiny";
  Axis rates{"rate", {}};
  for (int i = 0; i < points; ++i)
    rates.values.push_back(i + 1);
  entry.grid.push_back(std::move(rates));
  return entry;
}

SweepPlan tinyPlan(const std::vector<std::string>& files, int points) {
  SweepPlan plan;
  for (const std::string& path : files)
    plan.modules.push_back({path, std::filesystem::path(path).filename().string()});
  plan.estimators.push_back(tinyEntry(points));
  HardwareEntry machine;
  machine.base = {"box", Json::object({{"peak_flops", 1e12}, {"memory_bandwidth", 1e12}})};
  machine.nameTemplate = "box";
  plan.hardware.push_back(std::move(machine));
  plan.cacheMode = CacheMode::InMemory;
  plan.index();
  return plan;
}

} // namespace nocturne::test
