#include "actors/shard_work.h"

#include <map>

#include "actors/shard_queue.h"
#include "engine/options.h"

namespace nocturne {

ShardWork::ShardWork(const WorkContext& context, std::vector<Shard> shards)
    : context_(context), partsLeft_(shards.size()) {
  std::map<uint64_t, ShardModule*> byModule;
  parts_.resize(shards.size());
  for (size_t i = 0; i < shards.size(); ++i) {
    ShardModule*& module = byModule[shards[i].module()];
    if (module == nullptr)
      module = modules_.emplace_back(std::make_unique<ShardModule>(context, shards[i].file)).get();
    parts_[i].module = module;
    parts_[i].shard = std::move(shards[i]);
  }
}

double ShardWork::weight() const {
  double sum = 0;
  for (const Part& part : parts_)
    sum += ShardQueue::weightOf(part.shard);
  return sum;
}

FileLookup ShardWork::filesToAsk() const {
  FileLookup question;
  if (!context_.cacheEnabled())
    return question;
  for (const auto& module : modules_)
    if (module->wantsEntry())
      question.contentHashes.push_back(module->contentHash());
  return question;
}

void ShardWork::files(FileReply reply) {
  size_t next = 0;
  for (const auto& module : modules_) {
    if (!module->wantsEntry())
      continue;
    bool found = next < reply.entries.size() && reply.found[next] != 0;
    module->setEntry(found ? &reply.entries[next] : nullptr);
    ++next;
    if (std::optional<FileEntry> entry = module->takeNewEntry())
      put_.files.push_back(std::move(*entry));
  }
}

Lookup ShardWork::keysToAsk() {
  size_t items = 0;
  for (const Part& part : parts_)
    items += part.shard.points;
  slots_.reserve(items);
  uses_.reserve(items);
  slotOf_.reserve(items);
  for (uint32_t part = 0; part < parts_.size(); ++part)
    makeItems(part);
  Lookup question;
  question.keys.reserve(asked_.size());
  for (uint32_t slot : asked_)
    question.keys.push_back(slots_[slot].row.key);
  return question;
}

void ShardWork::makeItems(uint32_t index) {
  Part& part = parts_[index];
  part.points = context_.points.keys(part.shard.firstPoint, part.shard.points);
  part.slots.assign(part.shard.points, kNone);
  if (!part.module->failure()) {
    const ModuleFacts& facts = part.module->facts();
    for (uint32_t item = 0; item < part.shard.points; ++item) {
      const PointKey& point = (*part.points)[item];
      if (point.failure)
        continue;
      ++part.open;
      addUse(index, item,
             resultKey(point.configuration,
                       point.estimator->wholeModule ? facts.contentHash : facts.fingerprint));
    }
  }
  if (part.open == 0)
    finishPart(part);
}

void ShardWork::addUse(uint32_t part, uint32_t item, const Digest& key) {
  auto next = static_cast<uint32_t>(slots_.size());
  uint32_t index = context_.cacheEnabled() ? slotOf_.try_emplace(key, next).first->second : next;
  auto use = static_cast<uint32_t>(uses_.size());
  uses_.push_back({part, item, kNone});
  parts_[part].slots[item] = index;
  if (index < next) {
    Slot& slot = slots_[index];
    uses_[slot.lastUse].next = use;
    slot.lastUse = use;
    return;
  }
  const PointKey& point = (*parts_[part].points)[item];
  Slot& slot = slots_.emplace_back();
  slot.firstUse = slot.lastUse = use;
  slot.estimator = point.estimator;
  slot.row.key = key;
  slot.row.configuration = point.configuration;
  slot.row.fingerprint = parts_[part].module->facts().fingerprint;
  askOrCompute(index);
}

void ShardWork::askOrCompute(uint32_t index) {
  Slot& slot = slots_[index];
  if (!context_.cacheEnabled()) {
    slot.state = State::Mine;
    ready_.push_back(index);
  } else if (ResultPtr row = context_.results->result(slot.row.key)) {
    slot.state = State::Known;
    slot.row = *row;
    ready_.push_back(index);
  } else {
    asked_.push_back(index);
  }
}

void ShardWork::answers(LookupReply reply) {
  for (auto& [place, row] : reply.hits) {
    Slot& slot = slots_[asked_[place]];
    slot.state = State::Known;
    slot.row = std::move(row);
    ready_.push_back(asked_[place]);
  }
  for (uint32_t place : reply.yours) {
    slots_[asked_[place]].state = State::Mine;
    ready_.push_back(asked_[place]);
  }
  for (uint32_t place : reply.pending)
    slots_[asked_[place]].state = State::Pending;
}

void ShardWork::noAnswers() {
  for (uint32_t slot : asked_) {
    slots_[slot].state = State::Mine;
    ready_.push_back(slot);
  }
}

bool ShardWork::resolved(const Resolution& resolution) {
  auto found = slotOf_.find(resolution.key);
  if (found == slotOf_.end() || slots_[found->second].state != State::Pending)
    return false;
  Slot& slot = slots_[found->second];
  slot.state = resolution.yours ? State::Mine : State::Known;
  if (!resolution.yours)
    slot.row = resolution.row;
  ready_.push_back(found->second);
  return true;
}

bool ShardWork::tableNeeded(const Slot& slot) const {
  if (slot.state == State::Mine)
    return true;
  return slot.estimator->hooksSeeHits || (slot.row.failure && slot.row.failureOp >= 0);
}

FileLookup ShardWork::tablesToAsk() {
  FileLookup question;
  question.withTables = true;
  std::map<Digest, ShardModule*> wanted;
  for (uint32_t slot : ready_)
    if (tableNeeded(slots_[slot]))
      for (uint32_t use = slots_[slot].firstUse; use != kNone; use = uses_[use].next) {
        ShardModule* module = parts_[uses_[use].part].module;
        if (!wanted.contains(module->contentHash()) && module->wantsTable())
          wanted.emplace(module->contentHash(), module);
      }
  for (const auto& [hash, module] : wanted)
    question.contentHashes.push_back(hash);
  return question;
}

void ShardWork::tables(FileReply reply) {
  for (size_t i = 0; i < reply.entries.size(); ++i)
    for (const auto& module : modules_)
      if (reply.found[i] != 0 && module->contentHash() == reply.entries[i].contentHash) {
        module->setTable(std::move(reply.entries[i].table));
        break;
      }
}

void ShardWork::compute() {
  for (size_t next = 0; next < ready_.size(); ++next) {
    if (context_.abandon.stop_requested()) {
      releaseRest(next);
      return;
    }
    if (slots_[ready_[next]].state == State::Mine && !computeSlot(ready_[next])) {
      releaseRest(next);
      return;
    }
    settle(ready_[next]);
  }
  ready_.clear();
}

void ShardWork::releaseRest(size_t from) {
  abandoned_ = true;
  for (; from < ready_.size(); ++from)
    if (slots_[ready_[from]].state == State::Mine && context_.cacheEnabled())
      put_.released.push_back(slots_[ready_[from]].row.key);
  ready_.clear();
}

const Json& ShardWork::optionsOf(const Use& use) {
  Part& part = parts_[use.part];
  if (!part.options)
    part.options = context_.points.options(part.shard.firstPoint, part.shard.points);
  return (*part.options)[use.item];
}

// Tells the cache how results of these points are made, once for all modules.
void ShardWork::announce(const Part& part) {
  if (!context_.cacheEnabled() ||
      !context_.points.firstAnnouncement(part.shard.firstPoint, part.shard.points))
    return;
  for (uint32_t item = 0; item < part.shard.points; ++item) {
    const PointKey& point = (*part.points)[item];
    if (!point.failure)
      put_.configurations.push_back(
          {point.configuration, point.estimator->name,
           influencingText(point.estimator->options, (*part.options)[item])});
  }
}

ItemOutcome ShardWork::estimate(const Slot& slot) {
  const Use& use = uses_[slot.firstUse];
  Part& part = parts_[use.part];
  ModulePtr module;
  try {
    module = part.module->table();
  } catch (const std::exception& error) {
    // The module was known, but its file is gone: that says nothing about the result.
    const auto* item = dynamic_cast<const ItemError*>(&error);
    ItemOutcome outcome = failedItem(
        item != nullptr ? item->failure() : Failure{FailureKind::Internal, error.what(), {}, 0, 0});
    outcome.repeatable = false;
    return outcome;
  }
  const Json& options = optionsOf(use);
  announce(part);
  return estimateItem(context_, *slot.estimator, options, slot.row.key, *module, planIndexOf(use),
                      part.harvest, previous_);
}

bool ShardWork::computeSlot(uint32_t index) {
  Slot& slot = slots_[index];
  ItemOutcome outcome = estimate(slot);
  // What was ended in the middle is left for the run that goes on.
  if (outcome.row.failure && !outcome.repeatable && context_.abandon.stop_requested())
    return false;
  outcome.row.key = slot.row.key;
  outcome.row.configuration = slot.row.configuration;
  outcome.row.fingerprint = slot.row.fingerprint;
  slot.row = std::move(outcome.row);
  slot.thrown = std::move(outcome.thrown);
  slot.events = std::move(outcome.events);
  slot.computed = true;
  slot.kept = outcome.repeatable;
  if (context_.cacheEnabled() && slot.kept)
    put_.rows.push_back(slot.row);
  else if (context_.cacheEnabled())
    put_.released.push_back(slot.row.key);
  return true;
}

// Every item that wanted the key has its outcome now.
void ShardWork::settle(uint32_t index) {
  slots_[index].state = State::Settled;
  for (uint32_t use = slots_[index].firstUse; use != kNone; use = uses_[use].next) {
    const Slot& slot = slots_[index];
    if (!slot.computed || use != slot.firstUse)
      countHit(slot, uses_[use]);
    Part& part = parts_[uses_[use].part];
    if (--part.open == 0)
      finishPart(part);
  }
}

uint64_t ShardWork::planIndexOf(const Use& use) const {
  const Shard& shard = parts_[use.part].shard;
  return shard.module() * context_.points.count() + shard.firstPoint + use.item;
}

void ShardWork::countHit(const Slot& slot, Use& use) {
  if (!slot.kept)
    return;
  Part& part = parts_[use.part];
  const uint64_t planIndex = planIndexOf(use);
  if (!slot.estimator->hooksSeeHits) {
    harvestHit(context_, *slot.estimator, nullptr, nullptr, slot.row, planIndex, part.harvest);
    return;
  }
  try {
    ModulePtr module = part.module->table();
    use.hitEvents = harvestHit(context_, *slot.estimator, &optionsOf(use), module.get(), slot.row,
                               planIndex, part.harvest);
  } catch (const std::exception&) {
    // A table that is gone costs the hooks their look at it; the result is known.
  }
}

void ShardWork::finishPart(Part& part) {
  ShardDone done;
  done.tally = emptyTally(part.shard);
  done.record.module = part.shard.module();
  done.record.firstPoint = part.shard.firstPoint;
  done.record.attempts = part.shard.deaths + 1;
  if (!part.module->failure())
    done.record.facts = part.module->facts();
  done.record.items.reserve(part.shard.points);
  for (uint32_t item = 0; item < part.shard.points; ++item)
    done.record.items.push_back(recordOf(part, item, done.tally));
  done.record.statistics = part.harvest.serialisedStatistics();
  context_.metadata.propose(part.shard.module(), part.shard.firstPoint, part.harvest);
  part.harvest = {};
  part.options.reset();
  put_.shards.push_back(std::move(done));
  --partsLeft_;
}

ItemRecord ShardWork::recordOf(Part& part, uint32_t item, ShardTally& tally) {
  ItemRecord record;
  record.point = part.shard.firstPoint + item;
  uint32_t index = part.slots[item];
  if (index == kNone) {
    const auto& badPoint = (*part.points)[item].failure;
    record.status = ItemStatus::Failed;
    record.failure = badPoint ? *badPoint : *part.module->failure();
    ++tally.failed;
    return record;
  }
  Slot& slot = slots_[index];
  const Use& first = uses_[slot.firstUse];
  bool isFirst = &parts_[first.part] == &part && first.item == item;
  record.fromCache = !(slot.computed && isFirst);
  record.status = slot.row.failure || !slot.row.success ? ItemStatus::Failed : ItemStatus::Ok;
  ++(record.status == ItemStatus::Ok ? tally.ok : tally.failed);
  if (slot.kept)
    ++(record.fromCache ? tally.hits : tally.computed);
  if (slot.row.failure) {
    Failure failure{*slot.row.failure, slot.row.failureMessage, {}, 0, 0};
    bool ownPlace = slot.row.failureOp < 0 && slot.thrown && slot.thrown->line > 0 && isFirst;
    record.failure =
        ownPlace ? *slot.thrown : part.module->placed(std::move(failure), slot.row.failureOp);
  }
  record.events = eventsOf(slot, part, item);
  if (slot.firstUse == slot.lastUse)
    record.result = std::move(slot.row);
  else
    record.result = slot.row;
  return record;
}

std::string ShardWork::eventsOf(Slot& slot, const Part& part, uint32_t item) {
  for (uint32_t use = slot.firstUse; use != kNone; use = uses_[use].next)
    if (&parts_[uses_[use].part] == &part && uses_[use].item == item)
      return std::move(slot.computed && use == slot.firstUse ? slot.events : uses_[use].hitEvents);
  return {};
}

Put ShardWork::takePut() {
  for (const auto& module : modules_)
    if (std::optional<FileEntry> entry = module->takeNewEntry())
      put_.files.push_back(std::move(*entry));
  return std::exchange(put_, {});
}

std::vector<ShardTally> ShardWork::unfinished() const {
  std::vector<ShardTally> tallies;
  for (const Part& part : parts_)
    if (part.slots.empty() || part.open > 0)
      tallies.push_back(emptyTally(part.shard));
  return tallies;
}

} // namespace nocturne
