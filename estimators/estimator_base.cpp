#include "estimators/estimator_base.h"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <map>

#include "engine/sweep_plan.h"
#include "estimators/plan.h"

namespace nocturne {

struct Estimator::RunSums {
  double uncoveredRuns = 0;
  std::map<std::string, double> uncovered;
  std::bitset<64> assumedRates; // by ElementKind
  bool anyRuntime = false;
  int64_t failedOp = -1; // the first whose handler reported failure
  Json opMetadata;
};

namespace {

template <typename... P, typename... A>
void callAll(const std::vector<BoundHook<void, P...>>& hooks, const std::vector<void*>& selves,
             A&&... arguments) {
  for (const auto& hook : hooks)
    hook.method(selves[hook.classIndex], arguments...);
}

template <typename... P, typename... A>
void mergeAll(Json& into, const std::vector<BoundHook<Json, P...>>& hooks,
              const std::vector<void*>& selves, A&&... arguments) {
  for (const auto& hook : hooks) {
    Json more = hook.method(selves[hook.classIndex], arguments...);
    if (more.is_null())
      continue;
    if (into.is_null())
      into = Json::object();
    into.update(more, true);
  }
}

// The value at a path; null when there is none.
const Json* valueAt(const Json& options, const std::vector<std::string>& path) {
  const Json* here = &options;
  for (const std::string& key : path) {
    auto place = here->find(key);
    if (place == here->end())
      return nullptr;
    here = &*place;
  }
  return here->is_null() ? nullptr : here;
}

Failure withPlace(Failure failure, const Module& module, int64_t op) {
  if (!failure.file.empty())
    return failure;
  failure.file = module.path;
  auto row = std::find_if(module.rows.begin(), module.rows.end(),
                          [op](const OpRow& one) { return one.op == op; });
  if (op < 0 || row == module.rows.end())
    return failure;
  if (row->file < module.files.size() && !module.files[row->file].empty())
    failure.file = module.files[row->file];
  failure.line = row->line;
  failure.column = row->column;
  return failure;
}

// The exception that is being handled. Whatever an estimator throws is a failure of its item.
Failure currentFailure() {
  try {
    throw;
  } catch (const ItemError& error) {
    return error.failure();
  } catch (const UsageError& error) {
    return {FailureKind::BadConfig, error.what(), "", 0, 0};
  } catch (const std::exception& error) {
    return {FailureKind::Internal, error.what(), "", 0, 0};
  } catch (...) {
    return {FailureKind::Internal, "an exception that is no std::exception", "", 0, 0};
  }
}

std::string uncoveredName(const OpInfo& op) {
  const auto* call = op.get<CustomCallAttributes>();
  return call == nullptr ? op.name : "custom_call:" + call->target;
}

} // namespace

Estimator::~Estimator() = default;

void Estimator::describe(EstimatorClass<Estimator>& c) {
  c.name("estimator").version(1).hitsNeedNoModule();
  c.option("cache_dir", &Estimator::cacheDir_, option::text)
      .defaultValue("")
      .topLevel()
      .doesNotInfluenceResult()
      .help("folder of the result cache of an estimator that is used as a library; without one "
            "results stay in memory. A sweep has a setting of its own");
  c.option("disable_cache", &Estimator::disableCache_, option::boolean)
      .defaultValue(false)
      .topLevel()
      .doesNotInfluenceResult()
      .help("neither look results up nor remember them; a sweep has a setting of its own");
  c.option("in_memory_only_cache", &Estimator::inMemoryOnlyCache_, option::boolean)
      .defaultValue(false)
      .topLevel()
      .doesNotInfluenceResult()
      .help("remember results without a file; a sweep has a setting of its own");
  c.option("num_npus", &Estimator::numNpus_, option::positiveInteger)
      .fromHardware("num_npus")
      .defaultValue(1)
      .topLevel()
      .help("number of devices; no built-in estimator uses it yet");
}

void Estimator::setUp(std::shared_ptr<const EstimatorPlan> plan, void* self, const Json& options) {
  plan_ = std::move(plan);
  selves_ = plan_->objects(self);
  run_.reserve(plan_->operations.names->size());
  for (const BoundOption& bound : plan_->options)
    if (const Json* value = valueAt(options, bound.path))
      bound.owner->options[bound.option].set(selves_[bound.classIndex], *value);
  callAll(plan_->hooks.init, selves_);
}

void Estimator::openCache(const Services& services, const Json& options) {
  if (disableCache_)
    return;
  std::shared_ptr<ResultStore> store;
  if (!inMemoryOnlyCache_ && !cacheDir_.empty() && services.openCache)
    store = services.openCache(cacheDir_);
  EstimatorDescription description = plan_->description;
  if (plan_->measuresKernels && !plan_->kernelsKnown && kernels_)
    description.environment = withKernels(description.environment, *kernels_);
  cache_ = std::make_unique<EstimateCache>(
      configurationDigest(description, options,
                          services.reader ? services.reader->keyText() : std::string()),
      std::move(store), description.name, influencingText(description.options, options));
}

void Estimator::writeCache() {
  if (cache_)
    cache_->save();
}

std::vector<std::string> Estimator::takeWarnings() {
  return cache_ ? cache_->takeWarnings() : std::vector<std::string>();
}

KernelBuilder& Estimator::kernels() const {
  if (!kernels_)
    throw ItemError({FailureKind::ToolFailed,
                     "estimator " + displayName() + " cannot measure: this build has no compiler",
                     "", 0, 0});
  return *kernels_;
}

std::string Estimator::kernelFolder() const {
  const bool kept = !disableCache_ && !inMemoryOnlyCache_ && !cacheDir_.empty();
  return kept ? cacheDir_ + "/kernels" : std::string();
}

const std::string& Estimator::displayName() const {
  return plan_->description.name;
}

std::string_view Estimator::slotName(uint32_t slot) const {
  size_t known = plan_->operations.names->size();
  return slot < known ? (*plan_->operations.names)[slot] : extraNames_[slot - known];
}

uint32_t Estimator::extraSlot(const std::string& name) {
  auto next = static_cast<uint32_t>(plan_->operations.names->size() + extraNames_.size());
  auto [place, isNew] = extraSlots_.emplace(name, next);
  if (isNew)
    extraNames_.push_back(name);
  return place->second;
}

uint32_t Estimator::ownSlot(const Estimator& other, uint32_t slot) {
  return slot < plan_->operations.names->size() ? slot
                                                : extraSlot(std::string(other.slotName(slot)));
}

OpResult Estimator::callHandler(const OpInfo& op, uint32_t& slot) {
  slot = plan_->operations.names->find(op.name);
  if (slot != NameTable::kNone) {
    const BoundHandler& handler = plan_->operations.handlers[slot];
    return handler.method(selves_[handler.classIndex], op);
  }
  slot = extraSlot(op.name);
  const BoundHandler& handler = plan_->operations.defaultHandler;
  if (!handler.method)
    throw ItemError({FailureKind::UnsupportedOp,
                     "estimator " + displayName() + " has no handler for " + op.name, "", 0, 0});
  return handler.method(selves_[handler.classIndex], op);
}

void Estimator::prepareLike(const Estimator& sibling) {
  if (plan_ == sibling.plan_)
    prepared_ = sibling.prepared_;
}

// Starts a table for another module; the one at hand may be shared with other instances.
void Estimator::prepare(const Module& module) {
  bool known = prepared_ != nullptr && !module.fingerprint.isZero() &&
               prepared_->fingerprint == module.fingerprint &&
               prepared_->ops == module.ops.data() && prepared_->slots.size() == module.ops.size();
  if (known)
    return;
  prepared_ = std::make_shared<Prepared>();
  prepared_->fingerprint = module.fingerprint;
  prepared_->ops = module.ops.data();
  prepared_->slots.reserve(module.ops.size());
  for (const OpInfo& op : module.ops)
    prepared_->slots.push_back(plan_->operations.names->find(op.name));
  prepared_->works.resize(module.ops.size());
}

OpResult Estimator::callPrepared(const Module& module, size_t index, uint32_t& slot) {
  currentOp_ = &module.ops[index];
  currentWork_ = &prepared_->works[index];
  slot = prepared_->slots[index];
  if (slot == NameTable::kNone)
    return callHandler(*currentOp_, slot);
  const BoundHandler& handler = plan_->operations.handlers[slot];
  return handler.method(selves_[handler.classIndex], *currentOp_);
}

Work Estimator::workOf(const OpInfo& op, WorkRule rule) {
  if (&op != currentOp_)
    return rule(op);
  if (currentWork_->rule != rule)
    *currentWork_ = {rule, rule(op)};
  return currentWork_->work;
}

OpResult Estimator::inheritedBy(std::type_index type, const OpInfo& op) {
  const HandlerTable& table = plan_->operations;
  uint32_t byClass = 0;
  while (byClass < plan_->classes.size() && plan_->classes[byClass].declaration->type != type)
    ++byClass;
  const uint32_t place = table.names->find(op.name);
  for (const HandlerTable::Overridden& one : table.overridden)
    if (one.place == place && one.byClass == byClass)
      return one.handler.method(selves_[one.handler.classIndex], op);
  const BoundHandler& handler = table.defaultHandler;
  if (!handler.method || handler.classIndex >= byClass)
    throw ItemError({FailureKind::UnsupportedOp,
                     "estimator " + displayName() + " inherits no handler for " + op.name, "", 0,
                     0});
  return handler.method(selves_[handler.classIndex], op);
}

OpResult Estimator::estimateOp(const OpInfo& op) {
  uint32_t slot = 0;
  return callHandler(op, slot);
}

void Estimator::account(const Module& module, size_t index, uint32_t slot, const OpResult& result,
                        RunSums& sums) {
  const std::string& name = module.ops[index].name;
  if (result.success && !result.runtime)
    throw ItemError({FailureKind::Internal,
                     "the handler of " + name + " gave no time (OpResult::runtime is not set)", "",
                     0, 0});
  if (!(result.runtime.value_or(0) >= 0 && result.flops >= 0 && result.bytes >= 0))
    throw ItemError(
        {FailureKind::Internal,
         "the handler of " + name + " gave a time, flops or bytes that are negative or no number",
         "", 0, 0});
  double runs = module.opRuns[index];
  // Sums are exact up to 2^200; no module adds up more than a thousand such operations in a name.
  constexpr double kMost = 0x1p190;
  if (!((result.runtime.value_or(0) + result.flops + result.bytes) * runs < kMost))
    throw ItemError(
        {FailureKind::Unreadable,
         "operation " + name + " has more elements, or runs more often, than a number can say", "",
         0, 0});
  OpTotal& total = run_.at(slot, result.datatype, result.bound);
  total.runs.addProduct(runs, 1);
  if (result.runtime) {
    sums.anyRuntime = true;
    if (*result.runtime != 0)
      total.runtime.addProduct(*result.runtime, runs);
  }
  if (result.flops != 0)
    total.flops.addProduct(result.flops, runs);
  if (result.bytes != 0)
    total.bytes.addProduct(result.bytes, runs);
  if (!result.covered) {
    sums.uncoveredRuns += runs;
    sums.uncovered[uncoveredName(module.ops[index])] += runs;
  }
  if (result.rateAssumed)
    sums.assumedRates.set(static_cast<size_t>(result.datatype));
  if (!result.success && sums.failedOp < 0)
    sums.failedOp = static_cast<int64_t>(index);
  if (wantDetails_ && !result.metadata.is_null())
    sums.opMetadata.push_back(result.metadata);
}

// One pass over the distinct operations: no hook wants to see rows.
void Estimator::runDistinct(const Module& module, RunSums& sums, int64_t& failingOp) {
  for (size_t i = 0; i < module.ops.size(); ++i) {
    failingOp = static_cast<int64_t>(i);
    OpRun opRun{module.ops[i], module.opRuns[i], i, nullptr};
    callAll(plan_->hooks.preOp, selves_, opRun);
    uint32_t slot = 0;
    OpResult result = callPrepared(module, i, slot);
    callAll(plan_->hooks.postOp, selves_, opRun, result);
    account(module, i, slot, result, sums);
  }
}

// One pass over the rows. Hooks that want one call per distinct operation get it at its first row.
void Estimator::runRows(const Module& module, RunSums& sums, int64_t& failingOp) {
  std::vector<std::optional<OpResult>> results(module.ops.size());
  for (const OpRow& row : module.rows) {
    const OpInfo& op = module.ops[row.op];
    failingOp = row.op;
    OpRun perRow{op, row.multiplicity, row.op, &row};
    OpRun total{op, module.opRuns[row.op], row.op, nullptr};
    std::optional<OpResult>& result = results[row.op];
    bool first = !result.has_value();
    auto call = [&](const auto& hooks, const auto&... more) {
      for (const auto& hook : hooks) {
        if (!hook.perDistinct)
          hook.method(selves_[hook.classIndex], perRow, more...);
        else if (first)
          hook.method(selves_[hook.classIndex], total, more...);
      }
    };
    call(plan_->hooks.preOp);
    uint32_t slot = 0;
    if (first)
      result = callPrepared(module, row.op, slot);
    call(plan_->hooks.postOp, *result);
    if (first)
      account(module, row.op, slot, *result, sums);
  }
}

ModuleResult Estimator::runOperations(const Module& module, int64_t& failingOp) {
  RunSums sums;
  prepare(module);
  if (plan_->hasRowHooks)
    runRows(module, sums, failingOp);
  else
    runDistinct(module, sums, failingOp);
  currentOp_ = nullptr;
  failingOp = sums.failedOp;
  return toModuleResult(module, sums);
}

ModuleResult Estimator::toModuleResult(const Module& module, const RunSums& sums) const {
  ModuleResult out;
  TimeSum runtime;
  AmountSum flops, bytes;
  for (const OpTotal& total : run_.entries()) {
    runtime.merge(total.runtime);
    flops.merge(total.flops);
    bytes.merge(total.bytes);
  }
  if (sums.anyRuntime || module.ops.empty())
    out.runtime = runtime.value();
  out.flops = flops.value();
  out.bytes = bytes.value();
  out.totalRuns = operationCount(module);
  out.coveredRuns = std::max(0.0, out.totalRuns - sums.uncoveredRuns);
  for (const auto& [name, runs] : sums.uncovered)
    out.uncovered.push_back({name, runs});
  for (size_t i = 0; i < sums.assumedRates.size(); ++i)
    if (sums.assumedRates.test(i))
      out.assumedRates.push_back(static_cast<ElementKind>(i));
  if (sums.failedOp >= 0) {
    const std::string& name = module.ops[static_cast<size_t>(sums.failedOp)].name;
    out.success = false;
    out.failure = withPlace({FailureKind::Internal, "the handler of " + name + " failed", "", 0, 0},
                            module, sums.failedOp);
  }
  if (!sums.opMetadata.is_null())
    out.metadata = {{"ops", sums.opMetadata}};
  return out;
}

EstimatorResult Estimator::run(const Module& module, int64_t& failingOp) {
  run_.clear();
  callAll(plan_->hooks.preRun, selves_, module);
  EstimatorResult out;
  static_cast<ModuleResult&>(out) =
      plan_->description.wholeModule ? wholeModuleResult(module, {module.path, module.contentHash})
                                     : runOperations(module, failingOp);
  mergeAll(out.metadata, plan_->hooks.moduleMetadata, selves_, out);
  callAll(plan_->hooks.postRun, selves_, module, out);
  if (wantDetails_) {
    StatisticsTree own;
    addRunStatisticsTo(own, out);
    out.statistics = own.values();
  }
  return out;
}

EstimatorResult Estimator::estimate(const Module& module, const std::string& keyHex,
                                    const ResultRow* hit, bool cacheEnabled, int64_t* failureOp) {
  if (hit == nullptr)
    return estimateKnown(module, keyHex, nullptr, cacheEnabled, failureOp);
  const KnownEstimate known{*hit, {}, {}};
  return estimateKnown(module, keyHex, &known, cacheEnabled, failureOp);
}

EstimatorResult Estimator::estimateKnown(const Module& module, const std::string& keyHex,
                                         const KnownEstimate* known, bool cacheEnabled,
                                         int64_t* failureOp) {
  int64_t failingOp = -1;
  blamedOp_ = -1;
  try {
    callAll(plan_->hooks.preEstimate, selves_, module);
    EstimatorResult result;
    if (known != nullptr) {
      callAll(plan_->hooks.cacheHit, selves_, module, keyHex);
      result = fromRow(known->row);
      if (result.failure)
        result.failure = withPlace(std::move(*result.failure), module, known->row.failureOp);
      result.metadata = known->metadata;
      result.statistics = known->statistics;
      result.fromCache = true;
    } else {
      result = run(module, failingOp);
      if (cacheEnabled)
        callAll(plan_->hooks.cacheMiss, selves_, module, keyHex);
    }
    result.moduleFile = module.path;
    callAll(plan_->hooks.postEstimate, selves_, module, result);
    if (failureOp != nullptr)
      *failureOp = failingOp;
    return result;
  } catch (...) {
    currentOp_ = nullptr;
    if (failingOp < 0)
      failingOp = blamedOp_;
    if (failureOp != nullptr)
      *failureOp = failingOp;
    throw ItemError(withPlace(currentFailure(), module, failingOp));
  }
}

EstimatorResult Estimator::getEstimate(const Module& module) {
  const Digest& content = plan_->description.wholeModule ? module.contentHash : module.fingerprint;
  const bool caching = !disableCache_ && !content.isZero();
  if (caching && !cache_)
    cache_ = std::make_unique<EstimateCache>();
  const Digest key = caching ? cache_->keyOf(content) : Digest();
  const KnownEstimate* known = caching ? cache_->find(key) : nullptr;
  const bool wasKnown = known != nullptr;
  const bool wanted = std::exchange(wantDetails_, true);
  EstimatorResult result;
  int64_t failureOp = -1;
  try {
    result = estimateKnown(module, caching ? key.hex() : std::string(), known, caching, &failureOp);
  } catch (...) {
    wantDetails_ = wanted;
    throw;
  }
  wantDetails_ = wanted;
  result.moduleIndex = moduleIndex_++;
  place_ = {place_.planIndex + 1, 0};
  if (caching && !wasKnown) {
    KnownEstimate estimate{toRow(result, failureOp), result.metadata, result.statistics};
    estimate.row.key = key;
    estimate.row.fingerprint = module.fingerprint;
    cache_->add(std::move(estimate));
  }
  return result;
}

ModuleResult Estimator::wholeModuleResult(const Module&, const ModuleSource&) {
  throw Error("estimator " + displayName() + " has neither op handlers nor wholeModuleResult()");
}

double Estimator::operationCount(const Module& module) const {
  double sum = 0;
  for (double runs : module.opRuns)
    sum += runs;
  return sum;
}

void Estimator::addRunStatisticsTo(StatisticsTree&, const ModuleResult&) const {}

StatisticsTree Estimator::getStatistics() const {
  StatisticsTree tree;
  addStatisticsTo(tree);
  return tree;
}

void Estimator::addStatisticsTo(StatisticsTree& tree) const {
  tree.merge(statistics_);
}

void Estimator::addEvent(std::string name, double timestamp, std::string timeunit, Json metadata) {
  events_.add({std::move(name), timestamp, std::move(timeunit), std::move(metadata)});
}

bool Estimator::hasMetadataHooks() const {
  return !plan_->hooks.metadata.empty();
}

Json Estimator::getMetadata() {
  Json out = Json::object();
  mergeAll(out, plan_->hooks.metadata, selves_);
  return out;
}

void Estimator::absorb(const Estimator& other) {
  if (plan_ != other.plan_)
    throw Error("estimator " + displayName() + " cannot absorb an instance of " +
                other.displayName());
  for (size_t i = 0; i < plan_->classes.size(); ++i)
    if (auto* merge = plan_->classes[i].declaration->merge)
      merge(selves_[i], other.selves_[i]);
  statistics_.merge(other.statistics_);
  events_.append(other.events_);
}

std::vector<OpNameTotal> Estimator::opTotals() const {
  struct Share {
    OpNameTotal total;
    TimeSum runtime;
    AmountSum runs, flops, bytes;
    double largest = -1;
  };
  std::map<std::string_view, Share> byName;
  for (const OpTotal& entry : run_.entries()) {
    Share& share = byName[slotName(entry.slot)];
    share.runs.merge(entry.runs);
    share.runtime.merge(entry.runtime);
    share.flops.merge(entry.flops);
    share.bytes.merge(entry.bytes);
    double runtime = entry.runtime.value();
    if (runtime > share.largest) {
      share.largest = runtime;
      share.total.bound = entry.bound;
    }
  }
  std::vector<OpNameTotal> out;
  for (auto& [name, share] : byName) {
    share.total.name = name;
    share.total.runs = share.runs.value();
    share.total.runtime = share.runtime.value();
    share.total.flops = share.flops.value();
    share.total.bytes = share.bytes.value();
    out.push_back(std::move(share.total));
  }
  return out;
}

} // namespace nocturne
