// Declarations, inheritance and the order in which things run.
#include <fstream>

#include "estimators/plan.h"
#include "ops.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {

// Notes what ran, in order.
class Logging : public virtual ComputeEstimator {
public:
  std::vector<std::string> log;

protected:
  void say(const std::string& text) { log.push_back(text); }
};

class First : public virtual Logging {
public:
  static void describe(EstimatorClass<First>& c) {
    c.name("first").version(3).extends<ComputeEstimator>();
    c.option("rate", &First::rate_, option::positive).fromHardware("peak_flops").defaultValue(7);
    c.option("shared", &First::shared_, option::text).defaultValue("").topLevel();
    c.opHandler({"x.a", "x.b"}, &First::handle);
    c.defaultOpHandler(&First::byDefault);
    c.initHook(&First::init);
    c.preEstimateHook(&First::preEstimate).postEstimateHook(&First::postEstimate);
    c.preRunHook(&First::preRun).postRunHook(&First::postRun);
    c.preOpHook(&First::preOp).postOpHook(&First::postOp);
    c.moduleMetadataHook(&First::moduleMetadata).metadataHook(&First::metadata).mergesNothing();
    c.cacheHitHook(&First::hit).cacheMissHook(&First::miss);
  }
  double rate_ = 0;
  std::string shared_;

private:
  OpResult timed(double seconds) {
    OpResult result;
    result.runtime = seconds;
    return result;
  }
  OpResult handle(const OpInfo& info) {
    say("handle " + info.name);
    return timed(1);
  }
  OpResult byDefault(const OpInfo&) { return timed(100); }
  void init() { say("init"); }
  void preEstimate(const Module&) { say("pre-estimate"); }
  void postEstimate(const Module&, const EstimatorResult&) { say("post-estimate"); }
  void preRun(const Module&) { say("pre-run"); }
  void postRun(const Module&, const ModuleResult&) { say("post-run"); }
  void preOp(const OpRun& run) {
    say("pre-op " + run.op.name + ' ' + std::to_string(static_cast<int>(run.multiplicity)));
  }
  void postOp(const OpRun& run, const OpResult&) { say("post-op " + run.op.name); }
  Json moduleMetadata(const ModuleResult&) {
    say("module-metadata");
    return {{"first", {{"a", 1}}}, {"who", "first"}};
  }
  Json metadata() { return {{"seen", {{"first", true}}}}; }
  void hit(const Module&, const std::string&) { say("cache-hit"); }
  void miss(const Module&, const std::string&) { say("cache-miss"); }
};

class Second : public virtual First {
public:
  static void describe(EstimatorClass<Second>& c) {
    c.name("second").extends<First>();
    c.option("rate", &Second::ownRate_, option::positive).defaultValue(9);
    c.opHandler({"x.b"}, &Second::handle);
    c.defaultOpHandler(&Second::byDefault);
    c.preRunHook(&Second::preRun);
    c.moduleMetadataHook(&Second::moduleMetadata);
  }
  double ownRate_ = 0;

private:
  OpResult handle(const OpInfo&) {
    OpResult result;
    result.runtime = 2;
    return result;
  }
  OpResult byDefault(const OpInfo&) {
    OpResult result;
    result.runtime = 200;
    return result;
  }
  void preRun(const Module&) { say("pre-run second"); }
  Json moduleMetadata(const ModuleResult&) { return {{"first", {{"b", 2}}}, {"who", "second"}}; }
};

class Third : public virtual First {
public:
  static void describe(EstimatorClass<Third>& c) {
    c.name("third").extends<First>();
    c.option("depth", &Third::depth_, option::positiveInteger).defaultValue(1);
    c.preRunHook(&Third::preRun);
  }
  int64_t depth_ = 0;

private:
  void preRun(const Module&) { say("pre-run third"); }
};

class Diamond : public Second, public Third {
public:
  static void describe(EstimatorClass<Diamond>& c) {
    c.name("diamond").extends<Second>().extends<Third>();
    c.preRunHook(&Diamond::preRun);
  }

private:
  void preRun(const Module&) { say("pre-run diamond"); }
};

template <typename T>
std::unique_ptr<Estimator> makeOne(const Json& options = Json::object(),
                                   const Json& machine = nullptr) {
  EstimatorRegistry registry;
  registry.add<T>();
  const EstimatorDescription& description = *registry.all().front();
  return registry.create(description.name,
                         resolveOptions(description.options, options, machine, ""));
}

std::vector<std::string> logOf(Estimator& estimator) {
  return std::exchange(dynamic_cast<Logging&>(estimator).log, {});
}

using Log = std::vector<std::string>;

} // namespace

TEST_CASE("hooks run in their order on a miss, on a hit and without a cache") {
  auto estimator = makeOne<First>();
  CHECK(logOf(*estimator) == Log{"init"});
  Module module = moduleOf({op("x.a", "4xf32", "4xf32")});
  EstimatorResult missed = estimator->getEstimate(module);
  CHECK(logOf(*estimator) == Log{"pre-estimate", "pre-run", "pre-op x.a 1", "handle x.a",
                                 "post-op x.a", "module-metadata", "post-run", "cache-miss",
                                 "post-estimate"});
  EstimatorResult hit = estimator->getEstimate(module);
  CHECK(logOf(*estimator) == Log{"pre-estimate", "cache-hit", "post-estimate"});
  CHECK(hit.fromCache);
  CHECK(hit.runtime == missed.runtime);
  CHECK(hit.moduleIndex == 1);
  auto uncached = makeOne<First>({{"disable_cache", true}});
  logOf(*uncached);
  uncached->getEstimate(module);
  CHECK(logOf(*uncached) == Log{"pre-estimate", "pre-run", "pre-op x.a 1", "handle x.a",
                                "post-op x.a", "module-metadata", "post-run", "post-estimate"});
}

TEST_CASE("op hooks see every row in order, the handler each distinct operation once") {
  auto estimator = makeOne<First>();
  logOf(*estimator);
  ModuleBuilder builder("rows");
  OpInfo a = op("x.a", "4xf32", "4xf32"), b = op("x.b", "4xf32", "4xf32");
  Module module = builder.add(a, 2).add(b).add(a, 5).build();
  EstimatorResult result = estimator->getEstimate(module);
  Log log = logOf(*estimator);
  Log middle(log.begin() + 2, log.end() - 4);
  CHECK(middle == Log{"pre-op x.a 2", "handle x.a", "post-op x.a", "pre-op x.b 1", "handle x.b",
                      "post-op x.b", "pre-op x.a 5", "post-op x.a"});
  CHECK(result.runtime == 8);
  CHECK(result.totalRuns == 8);
}

TEST_CASE("hooks come base by base, a base reached twice once") {
  auto estimator = makeOne<Diamond>();
  CHECK(logOf(*estimator) == Log{"init"});
  Module module = moduleOf({op("x.a", "f32", "f32"), op("x.b", "f32", "f32")});
  EstimatorResult result = estimator->getEstimate(module);
  Log log = logOf(*estimator);
  CHECK(Log(log.begin(), log.begin() + 5) ==
        Log{"pre-estimate", "pre-run", "pre-run second", "pre-run third", "pre-run diamond"});
  CHECK(result.runtime == 3); // x.a of First, x.b of Second
  CHECK(result.metadata == Json{{"first", {{"a", 1}, {"b", 2}}}, {"who", "second"}});
  CHECK(estimator->getMetadata() == Json{{"seen", {{"first", true}}}});
  StatisticsTree tree = estimator->getStatistics();
  CHECK(tree.find("modules_processed")->value() == 1);
  CHECK(tree.find("runtime")->value() == 3);
}

TEST_CASE("an inherited default handler never beats an explicit one") {
  // Third has First's; Second's own is nearer.
  CHECK(makeOne<Diamond>()->getEstimate(moduleOf({op("x.c", "f32", "f32")})).runtime == 200);
  CHECK(makeOne<Third>()->getEstimate(moduleOf({op("x.c", "f32", "f32")})).runtime == 100);
}

TEST_CASE("options of bases live in sub-objects unless top level or declared anew") {
  EstimatorRegistry registry;
  registry.add<Diamond>();
  const EstimatorDescription& description = *registry.find("diamond");
  std::vector<std::string> paths = optionPaths(description.options);
  auto has = [&](const std::string& path) {
    return std::find(paths.begin(), paths.end(), path) != paths.end();
  };
  CHECK(has("second.rate"));
  CHECK(has("third.depth"));
  CHECK(has("shared"));
  CHECK(has("unknown_op"));
  CHECK_FALSE(has("second.first.rate")); // Second's own stands for it
  CHECK_FALSE(has("third.first.rate"));
  auto made = makeOne<Diamond>({{"second", {{"rate", 5}}}, {"shared", "s"}});
  auto& diamond = dynamic_cast<Diamond&>(*made);
  CHECK(diamond.ownRate_ == 5);
  CHECK(diamond.rate_ == 5);
  CHECK(diamond.shared_ == "s");
  CHECK(diamond.depth_ == 1);
  auto third = makeOne<Third>(Json::object(), {{"peak_flops", 3}});
  CHECK(dynamic_cast<Third&>(*third).rate_ == 3);
  std::vector<std::pair<std::string, uint32_t>> versions = {
      {"estimator", 1}, {"compute", 1}, {"first", 3}, {"second", 1}, {"third", 1}, {"diamond", 1}};
  CHECK(description.versions == versions);
  CHECK(description.hooksSeeHits);
  CHECK_FALSE(description.wholeModule);
  CHECK_FALSE(description.allowMultiprocess);
}

namespace {

struct Empty : public virtual ComputeEstimator {
  OpResult handle(const OpInfo&) { return {}; }
  int64_t number_ = 0;
};
#define NOCTURNE_BAD(Name, ...)                                                                    \
  struct Name : public Empty {                                                                     \
    static void describe(EstimatorClass<Name>& c) { __VA_ARGS__; }                                 \
    OpResult own(const OpInfo&) { return {}; }                                                     \
    int64_t value_ = 0;                                                                            \
  }
NOCTURNE_BAD(UnnamedEstimator, c.extends<ComputeEstimator>());
NOCTURNE_BAD(BadName, c.name("a.b").extends<ComputeEstimator>());
NOCTURNE_BAD(NoBase, c.name("no_base"));
NOCTURNE_BAD(BaseTwice, c.name("twice").extends<ComputeEstimator>().extends<ComputeEstimator>());
NOCTURNE_BAD(NameOfBase, c.name("compute").extends<ComputeEstimator>());
NOCTURNE_BAD(OptionTwice, c.name("options").extends<ComputeEstimator>();
             c.option("a", &OptionTwice::value_, option::positive);
             c.option("a", &OptionTwice::value_, option::positive));
NOCTURNE_BAD(BadDefault, c.name("bad_default").extends<ComputeEstimator>();
             c.option("a", &BadDefault::value_, option::positive).defaultValue(-1));
NOCTURNE_BAD(HandlerTwice, c.name("handlers").extends<ComputeEstimator>();
             c.opHandler({"x.a"}, &HandlerTwice::own);
             c.opHandler({"x.b", "x.a"}, &HandlerTwice::own));
NOCTURNE_BAD(NoDialect, c.name("no_dialect").extends<ComputeEstimator>();
             c.opHandler({"add"}, &NoDialect::own));
NOCTURNE_BAD(TwoDefaults, c.name("two_defaults").extends<ComputeEstimator>();
             c.defaultOpHandler(&TwoDefaults::own).defaultOpHandler(&TwoDefaults::own));
#undef NOCTURNE_BAD

struct HidesEstimate : public Empty {
  static void describe(EstimatorClass<HidesEstimate>& c) {
    c.name("hides").extends<ComputeEstimator>();
  }
  EstimatorResult getEstimate(const Module&) { return {}; }
};
struct HidesEvents : public Empty {
  static void describe(EstimatorClass<HidesEvents>& c) {
    c.name("hides").extends<ComputeEstimator>();
  }

protected:
  void addEvent(const std::string&) {}
};
struct FlatBase : public Empty {
  static void describe(EstimatorClass<FlatBase>& c) {
    c.name("left").extends<ComputeEstimator>();
    c.option("two_b", &FlatBase::value_, option::positive).defaultValue(1);
  }
  int64_t value_ = 0;
};
struct SameFlatName : public FlatBase {
  static void describe(EstimatorClass<SameFlatName>& c) {
    c.name("flat_names").extends<FlatBase>();
    c.option("left_two_b", &SameFlatName::number_, option::positive).defaultValue(1);
  }
  int64_t number_ = 0;
};

struct StateLost : public Empty {
  static void describe(EstimatorClass<StateLost>& c) {
    c.name("state").extends<ComputeEstimator>().metadataHook(&StateLost::said);
  }
  Json said() { return {{"number", number_}}; }
};
struct StatisticsLost : public Empty {
  static void describe(EstimatorClass<StatisticsLost>& c) {
    c.name("statistics").extends<ComputeEstimator>();
  }
  void addStatisticsTo(StatisticsTree& tree) const override { tree.root().count("mine").add(1); }
};

// Two bases that both extend RooflineLike, not virtually: it would be there twice.
struct Left : public Empty {
  static void describe(EstimatorClass<Left>& c) { c.name("left").extends<ComputeEstimator>(); }
};
struct LeftOne : public Left {
  static void describe(EstimatorClass<LeftOne>& c) { c.name("left_one").extends<Left>(); }
};
struct LeftTwo : public Left {
  static void describe(EstimatorClass<LeftTwo>& c) { c.name("left_two").extends<Left>(); }
};
struct Split : public LeftOne, public LeftTwo {
  static void describe(EstimatorClass<Split>& c) {
    c.name("split").extends<LeftOne>().extends<LeftTwo>();
  }
};

template <typename T>
std::string mistake() {
  EstimatorRegistry registry;
  try {
    registry.add<T>();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

} // namespace

TEST_CASE("declarations are checked when a class is registered") {
  CHECK(mistake<UnnamedEstimator>() == "");
  CHECK(mistake<HidesEstimate>() == "estimator class \"hides\": it hides Estimator::getEstimate(), "
                                    "which hooks and handlers serve "
                                    "to change");
  CHECK(mistake<HidesEvents>().find("it hides Estimator::addEvent()") != std::string::npos);
  CHECK(mistake<StateLost>().find("mergesNothing()") != std::string::npos);
  CHECK(mistake<StatisticsLost>().find("it overrides addStatisticsTo()") != std::string::npos);
  CHECK(mistake<SameFlatName>() ==
        "estimator class \"flat_names\": options \"left.two_b\" and \"left_two_b\" have the same "
        "flat name");
  CHECK(mistake<BadName>().find("letters, digits") != std::string::npos);
  CHECK(mistake<NoBase>() == "estimator class \"no_base\": it does not extend any estimator");
  CHECK(mistake<BaseTwice>() == "estimator class \"twice\": it extends \"compute\" twice");
  CHECK(mistake<NameOfBase>() ==
        "estimator class \"compute\": two of its bases are called \"compute\"");
  CHECK(mistake<OptionTwice>() == "estimator class \"options\": option \"a\" is declared twice");
  CHECK(mistake<BadDefault>().find("its default is refused") != std::string::npos);
  CHECK(mistake<HandlerTwice>() == "estimator class \"handlers\": two op handlers for x.a");
  CHECK(mistake<NoDialect>().find("not the full name") != std::string::npos);
  CHECK(mistake<TwoDefaults>().find("two default op handlers") != std::string::npos);
  CHECK(mistake<Split>().find("inherit it virtually") != std::string::npos);
  EstimatorRegistry registry;
  registry.add<UnnamedEstimator>(); // named by its class
  CHECK(registry.find("unnamed") != nullptr);
  registry.add<First>();
  CHECK_THROWS_WITH_AS(registry.add<First>(), "two estimator classes are called \"first\"", Error);
  CHECK_THROWS_AS(registry.create("nobody", Json::object()), Error);
}

namespace {

class Whole : public virtual ComputeEstimator {
public:
  static void describe(EstimatorClass<Whole>& c) {
    c.name("whole").extends<ComputeEstimator>().availableUnless(
        [] { return std::string(missing ? "no tool" : ""); });
  }
  static inline const bool missing = false;

protected:
  ModuleResult wholeModuleResult(const Module& module, const ModuleSource& source) override {
    ModuleResult result;
    result.runtime = static_cast<double>(source.path.size());
    result.totalRuns = result.coveredRuns = operationCount(module);
    return result;
  }
};

class Failing : public virtual ComputeEstimator {
public:
  static void describe(EstimatorClass<Failing>& c) {
    c.name("failing").extends<ComputeEstimator>();
    c.opHandler({"x.throws"}, &Failing::fail).opHandler({"x.ok"}, &Failing::fine);
    c.opHandler({"x.says_no"}, &Failing::sayNo);
  }

private:
  OpResult fail(const OpInfo&) { throw std::runtime_error("broken"); }
  OpResult fine(const OpInfo&) {
    OpResult result;
    result.runtime = 1;
    return result;
  }
  OpResult sayNo(const OpInfo&) {
    OpResult result;
    result.success = false;
    return result;
  }
};

Failure failureOf(Estimator& estimator, const Module& module, int64_t* failureOp) {
  try {
    estimator.estimate(module, "", nullptr, true, failureOp);
  } catch (const ItemError& error) {
    return error.failure();
  }
  return {};
}

} // namespace

TEST_CASE("a class without op handlers estimates whole modules") {
  auto estimator = makeOne<Whole>();
  CHECK(estimator->plan().description.wholeModule);
  CHECK(estimator->getEstimate(moduleOf({op("x.a", "f32", "f32")})).runtime == 9);
}

TEST_CASE("a failure names its kind, its place and its operation") {
  auto estimator = makeOne<Failing>();
  OpInfo fine = op("x.ok", "f32", "f32");
  Module module = moduleOf({fine, op("x.throws", "f32", "f32")});
  module.rows[1].line = 12;
  module.rows[1].column = 5;
  int64_t failureOp = -1;
  CHECK(failureOf(*estimator, module, &failureOp) ==
        Failure{FailureKind::Internal, "broken", "test.mlir", 12, 5});
  CHECK(failureOp == 1);
  Module unknown = moduleOf({fine, op("x.unknown", "f32", "f32")});
  Failure failure = failureOf(*estimator, unknown, &failureOp);
  CHECK((failure.kind == FailureKind::UnsupportedOp));
  CHECK(failure.message == "estimator failing has no rule for operation x.unknown");
  EstimatorResult refused =
      estimator->estimate(moduleOf({op("x.says_no", "f32", "f32")}), "", nullptr, true, &failureOp);
  CHECK_FALSE(refused.success);
  CHECK_FALSE(refused.runtime.has_value());
  CHECK(failureOp == 0);
  CHECK(refused.failure->message == "the handler of x.says_no failed");
}

TEST_CASE("whole-module sources notice that a file changed") {
  std::string path = std::string(NOCTURNE_BINARY_DIR) + "/module_source_test.mlir";
  std::ofstream(path, std::ios::binary) << "module {}";
  ModuleSource source{path, hashBytes("module {}")};
  CHECK(source.text() == "module {}");
  std::ofstream(path, std::ios::binary) << "module { }";
  CHECK_THROWS_WITH_AS(source.text(), doctest::Contains("changed"), ItemError);
}

namespace {

// Twice what its bases make of x.a and x.b, and of what they know no name for.
class Twice : public virtual Second {
public:
  static void describe(EstimatorClass<Twice>& c) {
    c.name("twice").extends<Second>();
    c.opHandler({"x.a", "x.b", "x.new"}, &Twice::handle);
  }

private:
  OpResult handle(const OpInfo& op) {
    OpResult result = inherited<Twice>(op);
    result.runtime = 2 * result.runtime.value();
    return result;
  }
};

class Careless : public virtual ComputeEstimator {
public:
  static void describe(EstimatorClass<Careless>& c) {
    c.name("careless").extends<ComputeEstimator>();
    c.opHandler({"x.none"}, &Careless::none).opHandler({"x.negative"}, &Careless::negative);
  }

private:
  OpResult none(const OpInfo&) { return {}; }
  OpResult negative(const OpInfo&) { return OpResult::inSeconds(-1); }
};

} // namespace

TEST_CASE("a handler can ask for what its bases would have said") {
  auto estimate = [](const char* name) {
    return makeOne<Twice>()->getEstimate(moduleOf({op(name, "f32", "f32")})).runtime;
  };
  CHECK(estimate("x.a") == 2);     // First's
  CHECK(estimate("x.b") == 4);     // Second's, which overrides First's
  CHECK(estimate("x.new") == 400); // Second's default handler
}

TEST_CASE("a success without a time, and a time below zero, fail the item") {
  auto estimator = makeOne<Careless>();
  int64_t failureOp = -1;
  CHECK(failureOf(*estimator, moduleOf({op("x.none", "f32", "f32")}), &failureOp).message ==
        "the handler of x.none gave no time (OpResult::runtime is not set)");
  CHECK(failureOf(*estimator, moduleOf({op("x.negative", "f32", "f32")}), &failureOp).message ==
        "the handler of x.negative gave a time, flops or bytes that are negative or no number");
}
