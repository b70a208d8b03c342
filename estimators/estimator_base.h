// The base of all estimators: runs handlers and hooks in their order and adds up results. What a
// class has is declared in its describe(); see estimator_class.h.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/event_stream.h"
#include "engine/services.h"
#include "engine/statistics.h"
#include "estimators/estimate_cache.h"
#include "estimators/estimator_class.h"
#include "estimators/module_source.h"
#include "estimators/run_totals.h"
#include "estimators/work.h"

namespace nocturne {

struct EstimatorPlan;

// A sweep makes an instance for each item, that is one module at one point. Its events are kept,
// and what it gathered is absorbed by another instance of its class: statistics, and what the class
// declares with mergeWith. Programs that keep an instance use getEstimate.
class Estimator {
public:
  static void describe(EstimatorClass<Estimator>& c);
  Estimator() = default;
  Estimator(const Estimator&) = delete;
  Estimator& operator=(const Estimator&) = delete;
  virtual ~Estimator();

  // One estimate, for callers with a cache of their own. `hit` is the cached row, or null on a
  // miss; without a cache neither hit nor miss hooks run. What a handler throws leaves as an
  // ItemError with its place; *failureOp is then the distinct operation to blame, or -1.
  EstimatorResult estimate(const Module& module, const std::string& keyHex, const ResultRow* hit,
                           bool cacheEnabled, int64_t* failureOp = nullptr);
  // Fill EstimatorResult::statistics and per-operation metadata; off unless asked for.
  void wantDetails(bool wanted) { wantDetails_ = wanted; }

  // Takes over what another instance of the same class found out about its latest module that no
  // option can change: most of the time when one module is estimated on many machines. Does nothing
  // when the classes differ. Both instances belong to one thread.
  void prepareLike(const Estimator& sibling);

  // One estimate, with statistics and metadata, for programs that keep their estimator. Results are
  // remembered: in memory, and in the folder of the option cache_dir when the instance was made
  // with services that open one. The options disable_cache and in_memory_only_cache say otherwise.
  // Throws ItemError.
  EstimatorResult getEstimate(const Module& module);
  // Makes the results so far durable, where there is a folder for them. They are saved without it
  // as well, at the latest when the instance goes. Throws StorageError.
  void writeCache();
  // What the cache got over since the last call, in sentences for people.
  std::vector<std::string> takeWarnings();
  // What all estimates of this instance so far have gathered.
  StatisticsTree getStatistics() const;
  // What the metadata hooks say, objects merged one into the other in the order of the hooks.
  Json getMetadata();
  bool hasMetadataHooks() const;
  // What addEvent() gathered, and a file of it: a counter stream unless asked for otherwise,
  // complete or not at all. Throws Error.
  const EventStream& events() const { return events_; }
  EventStream takeEvents() { return std::exchange(events_, {}); }
  void outputEvents(const std::string& path,
                    EventFormat format = EventFormat::CounterStream) const {
    events_.write(path, format);
  }
  // Adds this instance's statistics to others, such as a shard's. A class that adds more than its
  // bases do, out of members of its own, declares with mergeWith how these are absorbed.
  virtual void addStatisticsTo(StatisticsTree& tree) const;
  // Takes over what another instance of the same class has gathered: statistics(), events, and what
  // classes declare with mergeWith. In a sweep the order of merging is not defined.
  void absorb(const Estimator& other);
  // Where in a run the coming estimate stands: samples of later ones are the ones that count.
  void setPlanIndex(uint64_t index) { place_ = {index, 0}; }
  // Ends what estimates wait for, programs and measurements, when it is requested: they then fail
  // (tool_failed). A sweep requests it when it is stopped and the grace period is over.
  void setStop(std::stop_token stop) { stop_ = std::move(stop); }

  // The totals of the latest run, by name of operation.
  std::vector<OpNameTotal> opTotals() const;
  const EstimatorPlan& plan() const { return *plan_; }
  // The name the class was registered with.
  const std::string& displayName() const;

protected:
  // The estimate of a class without op handlers.
  virtual ModuleResult wholeModuleResult(const Module& module, const ModuleSource& source);
  // What ModuleResult::totalRuns says: by default every execution of every operation.
  virtual double operationCount(const Module& module) const;
  // Statistics of this module's run alone, for EstimatorResult::statistics.
  virtual void addRunStatisticsTo(StatisticsTree& tree, const ModuleResult& result) const;

  // Costs one operation with its handler; no hooks run. For handlers that look inside an operation.
  OpResult estimateOp(const OpInfo& op);
  // What the bases of T would have made of the operation, for a handler of T that changes it: the
  // handler that it overrides, or the default handler. No hooks run.
  template <typename T>
  OpResult inherited(const OpInfo& op) {
    return inheritedBy(typeid(T), op);
  }
  // The work of the operation that a handler was given: of a rule, which no option can influence,
  // and therefore kept for further estimates of the same module.
  Work workOf(const OpInfo& op, WorkRule rule);
  // Builds and measures modules on this computer, for classes that declare measuresKernels().
  // Throws ItemError (tool_failed) where nothing can.
  KernelBuilder& kernels() const;
  // Where what is built may be kept beside the results; "" without a folder of the instance's own.
  std::string kernelFolder() const;
  // Of setStop(), for whatever takes long.
  const std::stop_token& stopToken() const { return stop_; }
  // Says, before it throws, which distinct operation wholeModuleResult() fails for: the place is
  // then known as well when the failure comes from the cache.
  void blame(uint32_t op) { blamedOp_ = op; }
  // Per-operation metadata is asked for.
  bool detailsWanted() const { return wantDetails_; }
  // A named point in time, in the order of the calls. Throws Error for an empty name or a timestamp
  // that is no number.
  void addEvent(std::string name, double timestamp, std::string timeunit = {},
                Json metadata = Json::object());
  // Statistics of the class's own; merged into the run's.
  StatisticsTree& statistics() { return statistics_; }
  // The place of a sample for ValueStatistic::sample: each call gives a later one.
  SamplePlace nextPlace() {
    ++place_.sequence;
    return place_;
  }
  // Sums of the run in progress or just finished, by name, type and bound.
  const RunTotals& runTotals() const { return run_; }
  std::string_view slotName(uint32_t slot) const;
  // The number that RunTotals of this instance have for a name of another instance's: names without
  // a handler are numbered as they come.
  uint32_t ownSlot(const Estimator& other, uint32_t slot);

private:
  friend class EstimatorRegistry;
  template <typename T>
  friend struct PublicInterface;
  struct RunSums;
  struct KnownWork {
    WorkRule rule = nullptr; // null: not known yet
    Work work;
  };
  // What is known of a module's distinct operations once it was estimated.
  struct Prepared {
    Digest fingerprint;
    const OpInfo* ops = nullptr; // of the module, to compare addresses only
    std::vector<uint32_t> slots;
    std::vector<KnownWork> works;
  };

  void setUp(std::shared_ptr<const EstimatorPlan> plan, void* self, const Json& options);
  // Before the first getEstimate.
  void openCache(const Services& services, const Json& options);
  EstimatorResult estimateKnown(const Module& module, const std::string& keyHex,
                                const KnownEstimate* known, bool cacheEnabled, int64_t* failureOp);
  EstimatorResult run(const Module& module, int64_t& failingOp);
  ModuleResult runOperations(const Module& module, int64_t& failingOp);
  void runDistinct(const Module& module, RunSums& sums, int64_t& failingOp);
  void runRows(const Module& module, RunSums& sums, int64_t& failingOp);
  void prepare(const Module& module);
  OpResult inheritedBy(std::type_index type, const OpInfo& op);
  OpResult callHandler(const OpInfo& op, uint32_t& slot);
  OpResult callPrepared(const Module& module, size_t index, uint32_t& slot);
  void account(const Module& module, size_t index, uint32_t slot, const OpResult& result,
               RunSums& sums);
  ModuleResult toModuleResult(const Module& module, const RunSums& sums) const;
  uint32_t extraSlot(const std::string& name);

  std::shared_ptr<const EstimatorPlan> plan_;
  std::vector<void*> selves_; // this object as each class of the plan
  StatisticsTree statistics_;
  EventStream events_;
  RunTotals run_;
  std::shared_ptr<Prepared> prepared_; // complete, and shared, after a run
  const OpInfo* currentOp_ = nullptr;
  KnownWork* currentWork_ = nullptr;
  std::unordered_map<std::string, uint32_t> extraSlots_; // names without a handler
  std::deque<std::string> extraNames_;
  std::unique_ptr<EstimateCache> cache_; // of getEstimate()
  std::shared_ptr<KernelBuilder> kernels_;
  std::stop_token stop_;
  int64_t blamedOp_ = -1;
  SamplePlace place_;
  uint64_t moduleIndex_ = 0;
  bool wantDetails_ = false;
  bool disableCache_ = false;
  bool inMemoryOnlyCache_ = false;
  std::string cacheDir_;
  int64_t numNpus_ = 1;
};

} // namespace nocturne
