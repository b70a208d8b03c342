#include "actors/shard_queue.h"

#include <algorithm>
#include <limits>

namespace nocturne {

namespace {

// After this many deaths a shard is split, or condemned when it is one item: one death may be a
// neighbour's fault.
constexpr uint32_t kDeathsToSplit = 2;

} // namespace

void RunTally::add(const ShardTally& shard) {
  items += shard.points;
  ok += shard.ok;
  failed += shard.failed;
  hits += shard.hits;
  computed += shard.computed;
}

ShardQueue::ShardQueue(const ShardPlan& plan, uint64_t modules, Limits limits)
    : plan_(plan), modules_(modules), limits_(limits), done_(modules * plan.chunks().size()),
      itemsWanted_(modules * plan.pointCount()) {
  for (uint32_t i = 0; i < plan.chunks().size(); ++i)
    (plan.chunks()[i].confined ? confined_ : free_).push_back(i);
  allArrived_ = itemsWanted_ == 0;
}

uint64_t ShardQueue::skip(const std::vector<std::pair<uint64_t, uint64_t>>& done) {
  uint64_t items = 0;
  for (auto [module, firstPoint] : done) {
    size_t chunk = plan_.chunkAt(firstPoint);
    if (module >= modules_ || chunk == plan_.chunks().size() || isDone(module, chunk))
      continue;
    done_[module * plan_.chunks().size() + chunk] = true;
    items += plan_.chunks()[chunk].points;
  }
  itemsWanted_ -= items;
  return items;
}

std::vector<bool> ShardQueue::wantedModules() const {
  std::vector<bool> wanted(modules_);
  size_t chunks = plan_.chunks().size();
  for (uint64_t i = 0; i < done_.size(); ++i)
    if (!done_[i])
      wanted[i / chunks] = true;
  return wanted;
}

bool ShardQueue::isDone(uint64_t module, size_t chunk) const {
  return done_[module * plan_.chunks().size() + chunk];
}

// Moves `next` over chunks that are done.
void ShardQueue::toNextOpen(const OpenModule& module, const std::vector<uint32_t>& chunks,
                            size_t& next) const {
  while (next < chunks.size() && isDone(module.file.module, chunks[next]))
    ++next;
}

void ShardQueue::arrived(FileInfo file) {
  uint64_t index = file.module;
  nextModule_ = index + 1;
  OpenModule& module = open_[index];
  module.file = std::move(file);
  toNextOpen(module, free_, module.nextFree);
  toNextOpen(module, confined_, module.nextConfined);
  if (module.nextFree < free_.size())
    bySize_.insert({~module.file.bytes, index});
  if (module.nextConfined < confined_.size())
    confinedOpen_.insert(index);
  closeIfHandedOut(index);
}

uint64_t ShardQueue::readLimit() const {
  uint64_t base = open_.empty() ? nextModule_ : open_.begin()->first;
  return std::min(modules_, base + limits_.window);
}

void ShardQueue::closeIfHandedOut(uint64_t module) {
  auto found = open_.find(module);
  if (found->second.nextFree == free_.size() && found->second.nextConfined == confined_.size())
    open_.erase(found);
}

Shard ShardQueue::makeShard(const OpenModule& module, uint32_t chunk) const {
  const Chunk& points = plan_.chunks()[chunk];
  return {module.file, points.first, points.points, chunk, 0};
}

double ShardQueue::weightOf(const Shard& shard) {
  // Reading costs by the byte, estimating by the point and, roughly, the byte.
  return (4096.0 + static_cast<double>(shard.file.bytes)) * (16.0 + shard.points);
}

void ShardQueue::measured(double seconds, double weight) {
  if (weight <= 0)
    return;
  double rate = seconds / weight;
  secondsPerWeight_ = secondsPerWeight_ == 0 ? rate : 0.75 * secondsPerWeight_ + 0.25 * rate;
}

bool ShardQueue::fits(const std::vector<Shard>& batch, double weight, const Shard& next,
                      size_t maxShards) const {
  if (batch.empty())
    return true;
  if (batch.size() >= maxShards || secondsPerWeight_ == 0)
    return false;
  uint64_t points = next.points;
  for (const Shard& shard : batch)
    points += shard.points;
  return points <= limits_.batchPoints &&
         (weight + weightOf(next)) * secondsPerWeight_ <= limits_.batchSeconds;
}

std::vector<Shard> ShardQueue::take(WorkerId worker, bool mayConfined, size_t workers) {
  std::vector<Shard> batch;
  const Load& load = loads_[worker];
  // A suspect runs with nothing beside it, so that a death tells who it was.
  if (load.suspects > 0 || load.shards >= limits_.workerShards ||
      load.points >= limits_.workerPoints)
    return batch;
  if (auto suspect = suspectFor(mayConfined); suspect != suspects_.end()) {
    if (load.shards > 0)
      return batch;
    batch.push_back(std::move(*suspect));
    suspects_.erase(suspect);
    start(worker, batch);
    return batch;
  }
  // Towards the end batches shrink and nobody fetches ahead, so that all workers end together.
  workers = std::max<size_t>(1, workers);
  size_t waiting = freeWaiting();
  size_t fair = std::clamp<size_t>(waiting / (2 * workers), 1, limits_.batchShards);
  double weight = 0;
  if (mayConfined)
    takeConfined(batch, weight, limits_.batchShards);
  if (load.shards == 0 || waiting >= workers)
    takeFree(batch, weight, fair);
  start(worker, batch);
  return batch;
}

// Free shards of the modules that have arrived. All but the first of them are taken for whole.
size_t ShardQueue::freeWaiting() const {
  if (bySize_.empty())
    return 0;
  return bySize_.size() * free_.size() - open_.at(bySize_.begin()->second).nextFree;
}

bool ShardQueue::isIdle(WorkerId worker) const {
  auto load = loads_.find(worker);
  return load == loads_.end() || load->second.shards == 0;
}

std::deque<Shard>::iterator ShardQueue::suspectFor(bool mayConfined) {
  return std::ranges::find_if(suspects_, [&](const Shard& shard) {
    return mayConfined || !plan_.chunks()[shard.chunk].confined;
  });
}

void ShardQueue::takeConfined(std::vector<Shard>& batch, double& weight, size_t maxShards) {
  while (!confinedOpen_.empty()) {
    OpenModule& module = open_.at(*confinedOpen_.begin());
    Shard shard = makeShard(module, confined_[module.nextConfined]);
    if (!fits(batch, weight, shard, maxShards))
      return;
    weight += weightOf(shard);
    batch.push_back(std::move(shard));
    toNextOpen(module, confined_, ++module.nextConfined);
    if (module.nextConfined == confined_.size()) {
      confinedOpen_.erase(confinedOpen_.begin());
      closeIfHandedOut(module.file.module);
    }
  }
}

void ShardQueue::takeFree(std::vector<Shard>& batch, double& weight, size_t maxShards) {
  while (!bySize_.empty()) {
    OpenModule& module = open_.at(bySize_.begin()->second);
    Shard shard = makeShard(module, free_[module.nextFree]);
    if (!fits(batch, weight, shard, maxShards))
      return;
    weight += weightOf(shard);
    batch.push_back(std::move(shard));
    toNextOpen(module, free_, ++module.nextFree);
    if (module.nextFree == free_.size()) {
      bySize_.erase(bySize_.begin());
      closeIfHandedOut(module.file.module);
    }
  }
}

void ShardQueue::start(WorkerId worker, const std::vector<Shard>& batch) {
  Load& load = loads_[worker];
  for (const Shard& shard : batch) {
    ++load.shards;
    load.points += shard.points;
    load.suspects += shard.deaths > 0;
    inFlight_.emplace(Place(shard.module(), shard.firstPoint), InFlight{shard, worker});
  }
}

ShardQueue::InFlight ShardQueue::remove(const ShardTally& shard, bool& known) {
  auto found = inFlight_.find(Place(shard.module, shard.firstPoint));
  known = found != inFlight_.end() && found->second.shard.points == shard.points;
  if (!known)
    return {};
  InFlight removed = std::move(found->second);
  inFlight_.erase(found);
  if (auto load = loads_.find(removed.worker); load != loads_.end()) {
    --load->second.shards;
    load->second.points -= removed.shard.points;
    load->second.suspects -= removed.shard.deaths > 0;
  }
  return removed;
}

void ShardQueue::committed(const ShardTally& shard) {
  bool known = false;
  remove(shard, known);
  if (!known)
    return;
  uint32_t chunkPoints = plan_.chunks()[shard.chunk].points;
  if (shard.points == chunkPoints) {
    tally_.add(shard);
    return;
  }
  auto piece = pieces_.try_emplace({shard.module, shard.chunk}).first;
  auto& [points, sum] = piece->second;
  points += shard.points;
  sum.add(shard);
  if (points < chunkPoints)
    return;
  tally_.items += sum.items;
  tally_.ok += sum.ok;
  tally_.failed += sum.failed;
  tally_.hits += sum.hits;
  tally_.computed += sum.computed;
  pieces_.erase(piece);
}

void ShardQueue::returned(const ShardTally& shard) {
  bool known = false;
  remove(shard, known);
}

std::vector<Shard> ShardQueue::lost(WorkerId worker) {
  std::vector<Shard> condemned;
  std::vector<Place> kept;
  for (auto entry = inFlight_.begin(); entry != inFlight_.end();) {
    if (entry->second.worker != worker) {
      ++entry;
      continue;
    }
    Shard& shard = entry->second.shard;
    if (++shard.deaths >= kDeathsToSplit && shard.points == 1) {
      condemned.push_back(shard);
      entry->second.worker = 0;
      ++entry;
      continue;
    }
    if (shard.deaths >= kDeathsToSplit)
      split(shard);
    else
      suspects_.push_back(std::move(shard));
    entry = inFlight_.erase(entry);
  }
  loads_.erase(worker);
  return condemned;
}

// The halves have been there at one death: the next one decides between them.
void ShardQueue::split(const Shard& shard) {
  Shard low = shard, high = shard;
  low.deaths = high.deaths = kDeathsToSplit - 1;
  low.points = shard.points / 2;
  high.firstPoint += low.points;
  high.points -= low.points;
  suspects_.push_back(std::move(low));
  suspects_.push_back(std::move(high));
}

bool ShardQueue::nothingToHandOut() const {
  return allArrived_ && open_.empty() && suspects_.empty();
}

bool ShardQueue::finished() const {
  return nothingToHandOut() && inFlight_.empty();
}

} // namespace nocturne
