#include "actors/result_desk.h"

#include <algorithm>
#include <iterator>

namespace nocturne {

namespace {

// What stays in memory when the cache is broken, so that the run does not compute everything twice.
constexpr size_t kKeptWithoutCache = 1 << 18;

Resolved& answerFor(ResultDesk::Answers& answers, WorkerId worker) {
  for (auto& [to, answer] : answers)
    if (to == worker)
      return answer;
  return answers.emplace_back(worker, Resolved{}).second;
}

} // namespace

ResultDesk::ResultDesk(ResultStore* store, RunRecord& record, ClaimTable& claims,
                       const ShardPlan& plan, std::string readerText)
    : store_(store), record_(record), claims_(claims), plan_(plan),
      readerText_(std::move(readerText)) {}

DoneShards ResultDesk::open() {
  DoneShards reply;
  try {
    reply.shards = record_.doneShards();
  } catch (const StorageError& error) {
    reply.error = error.what();
  }
  return reply;
}

FileReply ResultDesk::files(const FileLookup& question) {
  // A table that was just put may not have reached the store.
  if (question.withTables && !files_.empty())
    commitCache();
  FileReply reply;
  reply.entries.resize(question.contentHashes.size());
  reply.found.resize(question.contentHashes.size());
  for (size_t i = 0; store_ != nullptr && i < question.contentHashes.size(); ++i) {
    try {
      auto entry = store_->findFile(question.contentHashes[i], readerText_, question.withTables);
      if (entry) {
        reply.entries[i] = std::move(*entry);
        reply.found[i] = 1;
      }
    } catch (const StorageError& error) {
      breakCache(error);
    }
  }
  return reply;
}

std::vector<std::optional<ResultRow>> ResultDesk::findInStore(const std::vector<Digest>& keys) {
  if (store_ == nullptr || keys.empty())
    return std::vector<std::optional<ResultRow>>(keys.size());
  try {
    return store_->find(keys);
  } catch (const StorageError& error) {
    breakCache(error);
    return std::vector<std::optional<ResultRow>>(keys.size());
  }
}

LookupReply ResultDesk::lookup(const Lookup& question, Clock::time_point now) {
  LookupReply reply;
  std::vector<uint32_t> unknown;
  std::vector<Digest> unknownKeys;
  for (uint32_t i = 0; i < question.keys.size(); ++i) {
    const Digest& key = question.keys[i];
    if (ResultPtr row = claims_.result(key)) {
      reply.hits.emplace_back(i, *row);
    } else if (claims_.claimed(key)) {
      claims_.claim(key, question.worker, now, row);
      reply.pending.push_back(i);
    } else {
      unknown.push_back(i);
      unknownKeys.push_back(key);
    }
  }
  std::vector<std::optional<ResultRow>> rows = findInStore(unknownKeys);
  for (size_t i = 0; i < unknown.size(); ++i) {
    if (rows[i]) {
      reply.hits.emplace_back(unknown[i], std::move(*rows[i]));
      continue;
    }
    ResultPtr row;
    claims_.claim(unknownKeys[i], question.worker, now, row);
    reply.yours.push_back(unknown[i]);
  }
  return reply;
}

ResultDesk::Answers ResultDesk::grouped(const std::vector<ClaimTable::Passed>& passed) {
  Answers answers;
  for (const ClaimTable::Passed& claim : passed)
    answerFor(answers, claim.to).keys.push_back({claim.key, true, {}});
  return answers;
}

ResultDesk::Answers ResultDesk::put(Put put, Clock::time_point now) {
  std::vector<ClaimTable::Passed> passed;
  for (const Digest& key : put.released)
    claims_.release(key, put.worker, now, passed);
  Answers answers = grouped(passed);
  for (ResultRow& row : put.rows) {
    std::vector<WorkerId> waiters = claims_.resolve(row);
    // A worker may wait in several batches, and all of them learn from one answer.
    std::ranges::sort(waiters);
    const auto repeated = std::ranges::unique(waiters);
    waiters.erase(repeated.begin(), repeated.end());
    for (WorkerId waiter : waiters)
      answerFor(answers, waiter).keys.push_back({row.key, false, row});
    rows_.push_back(std::move(row));
  }
  std::ranges::move(put.files, std::back_inserter(files_));
  std::ranges::move(put.configurations, std::back_inserter(configurations_));
  for (ShardDone& shard : put.shards)
    addShard(std::move(shard));
  return answers;
}

void ResultDesk::addShard(ShardDone shard) {
  if (!recordError_.empty()) {
    dropped_.push_back(shard.tally);
    return;
  }
  waitingItems_ += shard.record.items.size();
  if (shard.tally.points < plan_.chunks()[shard.tally.chunk].points) {
    addPiece(std::move(shard));
    return;
  }
  tallies_.push_back(shard.tally);
  records_.push_back(std::move(shard.record));
}

// The record knows whole chunks only, so that a resumed run is cut like the first one.
void ResultDesk::addPiece(ShardDone piece) {
  tallies_.push_back(piece.tally);
  const Chunk& chunk = plan_.chunks()[piece.tally.chunk];
  auto place = pieces_.try_emplace({piece.tally.module, piece.tally.chunk}).first;
  Pieces& whole = place->second;
  whole.record.module = piece.tally.module;
  whole.record.firstPoint = chunk.first;
  whole.record.attempts = std::max(whole.record.attempts, piece.record.attempts);
  if (!whole.record.facts)
    whole.record.facts = std::move(piece.record.facts);
  std::ranges::move(piece.record.items, std::back_inserter(whole.record.items));
  if (!piece.record.statistics.empty())
    whole.statistics.merge(StatisticsTree::deserialise(piece.record.statistics));
  if (whole.record.items.size() < chunk.points)
    return;
  std::ranges::sort(whole.record.items, {}, &ItemRecord::point);
  if (!whole.statistics.empty())
    whole.record.statistics = whole.statistics.serialise(true);
  records_.push_back(std::move(whole.record));
  pieces_.erase(place);
}

ResultDesk::Answers ResultDesk::workerGone(WorkerId worker, Clock::time_point now) {
  return grouped(claims_.releaseAll(worker, now));
}

ResultDesk::Answers ResultDesk::expire(Clock::duration deadline, Clock::time_point now) {
  return grouped(claims_.expire(deadline, now));
}

bool ResultDesk::anythingWaits() const {
  return !tallies_.empty() || !rows_.empty() || !files_.empty() || !configurations_.empty();
}

std::vector<ShardTally> ResultDesk::flush() {
  bool recorded = commitRecord();
  commitCache();
  waitingItems_ = 0;
  std::vector<ShardTally> tallies = std::exchange(tallies_, {});
  if (recorded)
    return tallies;
  dropped_.insert(dropped_.end(), tallies.begin(), tallies.end());
  return {};
}

bool ResultDesk::commitRecord() {
  if (!recordError_.empty())
    return false;
  if (records_.empty())
    return true;
  try {
    record_.begin();
    for (const ShardRecord& shard : records_)
      record_.putShard(shard);
    record_.commit();
  } catch (const StorageError& error) {
    recordError_ = error.what();
  }
  records_.clear();
  return recordError_.empty();
}

void ResultDesk::commitCache() {
  if (store_ != nullptr && !(rows_.empty() && files_.empty() && configurations_.empty())) {
    try {
      store_->begin();
      for (const ConfigurationText& text : configurations_)
        store_->putConfiguration(text.configuration, text.estimator, text.options);
      for (const FileEntry& file : files_)
        store_->putFile(file);
      store_->put(rows_);
      store_->commit();
    } catch (const StorageError& error) {
      breakCache(error);
    }
  }
  claims_.settled(rows_);
  rows_.clear();
  files_.clear();
  configurations_.clear();
}

void ResultDesk::breakCache(const StorageError& error) {
  if (store_ == nullptr)
    return;
  store_ = nullptr;
  claims_.keepResults(kKeptWithoutCache);
  warnings_.push_back(std::string("going on without the result cache: ") + error.what());
}

std::vector<std::string> ResultDesk::takeWarnings() {
  if (store_ != nullptr)
    std::ranges::move(store_->takeWarnings(), std::back_inserter(warnings_));
  return std::exchange(warnings_, {});
}

std::string ResultDesk::finish(const std::string& outcome, const Json& metadata) {
  try {
    // A call that gathered nothing leaves what an earlier one said.
    if (!metadata.is_null())
      record_.putMetadata(metadata.dump(-1, ' ', false, Json::error_handler_t::replace));
    record_.finish(outcome);
    return {};
  } catch (const StorageError& error) {
    return error.what();
  }
}

} // namespace nocturne
