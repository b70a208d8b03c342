// Estimators as a library: options from objects, cache modes, and instances that absorb others.
#include <algorithm>
#include <map>
#include <set>

#include "engine/sweep_plan.h"
#include "estimators/plan.h"
#include "ops.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {

using Log = std::vector<std::string>;

class Notes : public virtual ComputeEstimator {
public:
  static void describe(EstimatorClass<Notes>& c) {
    c.name("notes").version(currentVersion).extends<ComputeEstimator>().allowMultiprocess();
    c.option("seconds", &Notes::seconds_, option::positive).defaultValue(1.0);
    c.option("tag", &Notes::tag_, option::text).optional().doesNotInfluenceResult();
    c.opHandler({"x.a"}, &Notes::handle);
    c.defaultOpHandler(&Notes::handle);
    c.moduleMetadataHook(&Notes::note).metadataHook(&Notes::all);
    c.cacheHitHook(&Notes::hit).cacheMissHook(&Notes::miss);
    c.preEstimateHook(&Notes::begin).postRunHook(&Notes::count);
    c.mergeWith<&Notes::mergeSeen>();
  }
  static inline uint32_t currentVersion = 1;
  Log log;
  std::string tag_ = "none";
  double seconds_ = 0;

private:
  OpResult handle(const OpInfo&) {
    OpResult result;
    result.runtime = seconds_;
    return result;
  }
  Json note(const ModuleResult&) { return {{"noted", true}}; }
  Json all() { return {{"modules", seen_}}; }
  void begin(const Module& module) { addEvent(module.name, 0); }
  void count(const Module& module, const ModuleResult&) {
    seen_.insert(module.name);
    statistics().root().valueMember("last").sample(static_cast<double>(module.rows.size()),
                                                   nextPlace());
  }
  void mergeSeen(const Notes& other) { seen_.insert(other.seen_.begin(), other.seen_.end()); }
  void hit(const Module&, const std::string& key) { log.push_back("hit " + key); }
  void miss(const Module&, const std::string& key) { log.push_back("miss " + key); }
  std::set<std::string> seen_;
};

// A cache in a folder, as far as this process is concerned.
class FolderStore final : public ResultStore {
public:
  void begin() override {}
  void commit() override {
    ++commits;
    if (full)
      throw StorageError(StorageErrorKind::Full, "the disk is full");
  }
  std::vector<std::optional<ResultRow>> find(std::span<const Digest> keys) override {
    std::vector<std::optional<ResultRow>> found;
    for (const Digest& key : keys)
      found.push_back(rows.contains(key) ? std::optional(rows.at(key)) : std::nullopt);
    return found;
  }
  void put(std::span<const ResultRow> some) override {
    for (const ResultRow& row : some)
      rows.emplace(row.key, row);
  }
  std::optional<FileEntry> findFile(const Digest&, const std::string&, bool) override { return {}; }
  void putFile(const FileEntry&) override {}
  void putConfiguration(const Digest&, const std::string&, const std::string& options) override {
    configurations.push_back(options);
  }
  std::string findDetails(const Digest& key) override { return details[key]; }
  void putDetails(const Digest& key, const std::string& text) override { details[key] = text; }

  std::map<Digest, ResultRow> rows;
  std::map<Digest, std::string> details;
  Log configurations;
  int commits = 0;
  bool full = false;
};

struct Library {
  Library() {
    registry.add<Notes>();
    services.openCache = [this](const std::string& folder) {
      std::shared_ptr<FolderStore>& store = folders[folder];
      if (!store)
        store = std::make_shared<FolderStore>();
      return store;
    };
  }
  std::unique_ptr<Estimator> make(const Json& config, const Json& overrides = Json()) {
    return registry.make("notes", config, overrides, services);
  }
  EstimatorRegistry registry;
  Services services;
  std::map<std::string, std::shared_ptr<FolderStore>> folders;
};

Log logOf(Estimator& estimator) {
  return std::exchange(dynamic_cast<Notes&>(estimator).log, {});
}

Module named(const std::string& name, int rows) {
  ModuleBuilder builder(name);
  for (int i = 0; i < rows; ++i)
    builder.add(op("x.a", std::to_string(i + 1) + "xf32", "f32"));
  return builder.build();
}

} // namespace

TEST_CASE("a second estimator on the same folder hits what the first one computed") {
  Library library;
  const Json config = {{"cache_dir", "here"}};
  const Module module = named("m", 2);
  EstimatorResult first, second;
  {
    auto estimator = library.make(config);
    first = estimator->getEstimate(module);
    CHECK(logOf(*estimator).front().starts_with("miss "));
    CHECK(library.folders.at("here")->commits == 1); // saved at once
  }
  auto estimator = library.make(config);
  second = estimator->getEstimate(module);
  const Log log = logOf(*estimator);
  REQUIRE(log.size() == 1);
  CHECK(log.front() == "hit " + library.folders.at("here")->rows.begin()->first.hex());
  CHECK(second.fromCache);
  second.fromCache = false;
  CHECK(toJsonText(second) == toJsonText(first)); // metadata and statistics as well
  CHECK(library.folders.at("here")->configurations.front().find("\"seconds\":1") !=
        std::string::npos);
}

TEST_CASE("only what influences a result makes another key") {
  Library library;
  const Module module = named("m", 2);
  auto misses = [&](const Json& config, const Json& overrides = Json()) {
    auto estimator = library.make(config, overrides);
    estimator->getEstimate(module);
    return logOf(*estimator).front().starts_with("miss");
  };
  CHECK(misses({{"cache_dir", "here"}}));
  CHECK_FALSE(misses({{"cache_dir", "here"}, {"tag", "other"}}));
  CHECK_FALSE(misses({{"cache_dir", "here"}, {"seconds", 1}})); // the default, spelled out
  CHECK_FALSE(misses({{"cache_dir", "nowhere"}}, {{"cache_dir", "here"}}));
  CHECK(misses({{"cache_dir", "here"}, {"seconds", 2}}));
  CHECK(misses({{"cache_dir", "here"}, {"num_npus", 4}}));
  library.folders["there"] = library.folders["here"]; // the same results in another place
  CHECK_FALSE(misses({{"cache_dir", "there"}}));
  auto estimator = library.make({{"cache_dir", "here"}});
  estimator->getEstimate(named("m", 3));
  CHECK(logOf(*estimator).front().starts_with("miss"));
  Notes::currentVersion = 2;
  EstimatorRegistry newer;
  newer.add<Notes>();
  Notes::currentVersion = 1;
  auto changed = newer.make("notes", {{"cache_dir", "here"}}, Json(), library.services);
  changed->getEstimate(module);
  CHECK(logOf(*changed).front().starts_with("miss"));
}

TEST_CASE("in memory only no folder is opened, and disabled nothing is remembered") {
  Library library;
  const Module module = named("m", 1);
  auto inMemory = library.make({{"cache_dir", "here"}, {"in_memory_only_cache", true}});
  CHECK_FALSE(inMemory->getEstimate(module).fromCache);
  CHECK(inMemory->getEstimate(module).fromCache);
  CHECK(logOf(*inMemory).size() == 2);
  inMemory->writeCache();
  auto disabled = library.make({{"cache_dir", "here"}, {"disable_cache", "true"}});
  CHECK_FALSE(disabled->getEstimate(module).fromCache);
  CHECK_FALSE(disabled->getEstimate(module).fromCache);
  CHECK(logOf(*disabled).empty());
  disabled->writeCache();
  CHECK(library.folders.empty());
}

TEST_CASE("rows that a sweep left without details are computed, and completed") {
  Library library;
  const Module module = named("m", 2);
  library.make({{"cache_dir", "here"}})->getEstimate(module);
  FolderStore& store = *library.folders.at("here");
  store.details.clear();
  auto estimator = library.make({{"cache_dir", "here"}});
  CHECK_FALSE(estimator->getEstimate(module).fromCache);
  CHECK(store.details.size() == 1);
}

TEST_CASE("results that cannot be saved are kept, told and saved later") {
  Library library;
  auto estimator = library.make({{"cache_dir", "here"}});
  FolderStore& store = *library.folders.at("here");
  store.full = true;
  const Module module = named("m", 1);
  estimator->getEstimate(module);
  CHECK(estimator->takeWarnings() == Log{"the disk is full"});
  CHECK(estimator->getEstimate(module).fromCache);
  CHECK_THROWS_AS(estimator->writeCache(), StorageError);
  store.full = false;
  const int before = store.commits;
  estimator->writeCache();
  estimator->writeCache(); // nothing left to do
  CHECK(store.commits == before + 1);
}

TEST_CASE("configuration objects and flat overrides give the same options") {
  EstimatorRegistry registry;
  registerBuiltins(registry);
  const Json base = {{"rows", 4}, {"columns", 8}};
  Json nested = base;
  nested["roofline"] = {{"peak_flops", 2e12}, {"memory_bandwidth", 1e12}};
  const Json flat = {{"roofline_peak_flops", 2e12}, {"roofline.memory_bandwidth", "1e12"}};
  const Json before = base;
  auto one = registry.make("systolic", nested);
  auto two = registry.make("systolic", base, flat);
  CHECK(base == before);
  const Module module = moduleOf({op("stablehlo.add", "64xf32 64xf32", "64xf32")});
  CHECK(one->getEstimate(module).runtime == two->getEstimate(module).runtime);
  CHECK(withOverrides(one->plan().description.options, nested,
                      {{"roofline_peak_flops", nullptr}}) == nested);
  CHECK_THROWS_WITH_AS(registry.make("systolic", base, {{"roofline_peak_flop", 1}}),
                       "there is no option \"roofline_peak_flop\"; did you mean "
                       "\"roofline_peak_flops\"?",
                       UsageError);
  CHECK_THROWS_WITH_AS(registry.make("systolik", base), doctest::Contains("\"systolic\""),
                       UsageError);
}

TEST_CASE(
    "an option without a default may be optional, and is checked once more after validation") {
  struct Checked : public virtual ComputeEstimator {
    static void describe(EstimatorClass<Checked>& c) {
      c.name("checked").extends<ComputeEstimator>();
      c.option("even", &Checked::even_, option::positiveInteger)
          .optional()
          .postValidate([](const Json& value) -> Json {
            if (value.get<int64_t>() % 2 != 0)
              throw UsageError("expected an even number");
            return value.get<int64_t>() / 2;
          });
    }
    int64_t even_ = -7;
  };
  EstimatorRegistry registry;
  registry.add<Checked>();
  CHECK(dynamic_cast<Checked&>(*registry.make("checked", Json::object())).even_ == -7);
  CHECK(dynamic_cast<Checked&>(*registry.make("checked", {{"even", 6}})).even_ == 3);
  CHECK_THROWS_WITH_AS(registry.make("checked", {{"even", 5}}), "/even: expected an even number",
                       UsageError);
}

TEST_CASE("one instance that absorbed others has gathered what one alone would have") {
  EstimatorRegistry registry;
  registry.add<Notes>();
  std::vector<Module> modules;
  for (int i = 1; i <= 4; ++i)
    modules.push_back(named("m" + std::to_string(i), i));
  modules.push_back(moduleOf({op("x.no_handler", "f32", "f32"), op("x.neither", "f32", "f32")}));
  auto alone = registry.make("notes", Json::object(), {{"disable_cache", true}});
  std::vector<std::unique_ptr<Estimator>> each;
  for (size_t i = 0; i < modules.size(); ++i) {
    alone->setPlanIndex(i);
    alone->estimate(modules[i], "", nullptr, false);
    each.push_back(registry.make("notes", Json::object()));
    each.back()->setPlanIndex(i);
    each.back()->estimate(modules[i], "", nullptr, false);
  }
  // In another order.
  Estimator& all = *each[4];
  for (size_t i : {2, 0, 3, 1})
    all.absorb(*each[i]);
  CHECK(all.getStatistics().equalIgnoringIntervals(alone->getStatistics()));
  CHECK(all.getStatistics().find("last")->value() == 2);
  CHECK(all.getMetadata() == alone->getMetadata());
  CHECK(all.getMetadata().at("modules").size() == 5);
  CHECK(all.events().events().size() == 5);
}
