// What an estimator actor does with a batch of shards, step by step and without actors: the actor
// only carries questions and answers to and from the cache actor.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "actors/item_estimate.h"
#include "actors/messages.h"
#include "actors/shard_module.h"

namespace nocturne {

// The steps of one batch, in this order. A question that is empty is not asked and needs no answer.
//
//   filesToAsk()  ── FileReply ───► files()
//   keysToAsk()   ── LookupReply ─► answers()
//   tablesToAsk() ── FileReply ───► tables()
//   compute(), takePut()
//   for each Resolved: resolved(), compute(), takePut()
//   until done() or abandoned()
//
// Equal keys are merged, each being asked and computed once; without a cache nothing is merged.
// Nothing throws but bugs.
class ShardWork {
public:
  ShardWork(const WorkContext& context, std::vector<Shard> shards);

  FileLookup filesToAsk() const;
  void files(FileReply reply); // an empty reply: nothing is known
  Lookup keysToAsk();
  void answers(LookupReply reply);
  void noAnswers(); // the cache is silent: everything is computed here
  FileLookup tablesToAsk();
  void tables(FileReply reply);
  // Settles hits and computes what is ours, until told to abandon.
  void compute();
  // An answer to a key that was pending. False when this batch does not wait for it.
  bool resolved(const Resolution& resolution);

  // What is new since the last call: rows, released claims, and shards that became complete.
  Put takePut();
  bool done() const { return partsLeft_ == 0; }
  bool abandoned() const { return abandoned_; }
  std::vector<ShardTally> unfinished() const;
  double weight() const;

private:
  enum class State : uint8_t { Asked, Mine, Pending, Known, Settled };
  static constexpr uint32_t kNone = 0xffffffff;

  // One key.
  struct Slot {
    State state = State::Asked;
    bool computed = false; // here, for the first use
    bool kept = true;      // a result, or a failure that the same input gives again
    uint32_t firstUse = kNone, lastUse = kNone; // places in uses_
    const EstimatorDescription* estimator = nullptr;
    ResultRow row;
    std::optional<Failure> thrown; // in the module of the first use
    std::string events;            // of the first use
  };
  // One item that wants a key.
  struct Use {
    uint32_t part = 0, item = 0, next = kNone;
    std::string hitEvents{}; // of hooks that saw the hit
  };
  // One shard.
  struct Part {
    Shard shard;
    ShardModule* module = nullptr;
    std::shared_ptr<const PointKeys> points;
    std::shared_ptr<const PointOptions> options; // once something needs them
    std::vector<uint32_t> slots;                 // by item; kNone where it failed before
    size_t open = 0;                             // items without an outcome
    ShardHarvest harvest;
  };

  void makeItems(uint32_t part);
  void addUse(uint32_t part, uint32_t item, const Digest& key);
  void askOrCompute(uint32_t slot);
  const Json& optionsOf(const Use& use);
  void announce(const Part& part);
  bool tableNeeded(const Slot& slot) const;
  ItemOutcome estimate(const Slot& slot);
  bool computeSlot(uint32_t slot); // false: it was ended, and has no result
  void releaseRest(size_t from);
  void settle(uint32_t slot);
  uint64_t planIndexOf(const Use& use) const;
  void countHit(const Slot& slot, Use& use);
  void finishPart(Part& part);
  std::string eventsOf(Slot& slot, const Part& part, uint32_t item);
  ItemRecord recordOf(Part& part, uint32_t item, ShardTally& tally);

  const WorkContext& context_;
  std::vector<std::unique_ptr<ShardModule>> modules_;
  std::vector<Part> parts_;
  std::vector<Slot> slots_;
  std::vector<Use> uses_;
  std::unordered_map<Digest, uint32_t, KeyHash> slotOf_;
  std::vector<uint32_t> asked_; // slots, in the order of the question
  std::vector<uint32_t> ready_; // slots that are Mine or Known, to be settled by compute()
  Put put_;
  size_t partsLeft_ = 0; // not yet in put_
  bool abandoned_ = false;
  std::shared_ptr<Estimator> previous_; // of the latest estimate
};

} // namespace nocturne
