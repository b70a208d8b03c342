// Simulators of matrix products, well and badly behaved: each is a few lines of shell.
#include "estimators/simulator_estimator.h"

#include <filesystem>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "estimators/registry.h"
#include "tests/estimators/ops.h"
#include "tests/estimators/programs.h"

using namespace nocturne;
using namespace nocturne::test;

namespace {

namespace fs = std::filesystem;

DotAttributes matmul() {
  DotAttributes dot;
  dot.lhsContracting = {1};
  dot.rhsContracting = {0};
  return dot;
}

DotAttributes batched() {
  DotAttributes dot;
  dot.lhsBatching = dot.rhsBatching = {0};
  dot.lhsContracting = {2};
  dot.rhsContracting = {1};
  return dot;
}

OpInfo square() {
  return op("stablehlo.dot_general", "64x64xf32 64x64xf32", "64x64xf32", matmul());
}

// A script that is told m, k, n and type as $1 to $4.
Json words(const std::string& script) {
  Json all = shell(script);
  for (const char* word : {"sim", "{m}", "{k}", "{n}", "{type}"})
    all.push_back(word);
  return all;
}

Json simulator(const Json& command, const Json& more = Json::object()) {
  Json options = {{"command", command}, {"pattern", "time=([0-9.]+)"}, {"unit", "us"}};
  options.update(more);
  return options;
}

// m + k + n microseconds.
const std::string kSum = "echo time=$(($1 + $2 + $3))";

EstimatorResult estimate(const std::vector<OpInfo>& ops, const Json& options,
                         const std::string& name = "simulator") {
  const auto estimator = make(name, Json::object(), options);
  estimator->wantDetails(true);
  return estimator->estimate(moduleOf(ops), "", nullptr, false);
}

Json onMachine(Json options) {
  options["roofline"] = unitMachine();
  return options;
}

Failure failureOf(const OpInfo& operation, const Json& options,
                  const std::string& name = "simulator") {
  Module module = moduleOf({op("stablehlo.add", "4xf32 4xf32", "4xf32"), operation});
  module.rows.at(1).line = 7;
  module.rows.at(1).column = 11;
  try {
    make(name, Json::object(), onMachine(options))->estimate(module, "", nullptr, false);
  } catch (const ItemError& error) {
    return error.failure();
  }
  return {};
}

} // namespace

TEST_CASE("a matrix product takes the time that the simulator says, the rest the roofline's") {
  const OpInfo dot =
      op("stablehlo.dot_general", "128x512xbf16 512x64xbf16", "128x64xbf16", matmul());
  const OpInfo add = op("stablehlo.add", "1000xf32 1000xf32", "1000xf32");
  const EstimatorResult result = estimate({dot, add}, onMachine(simulator(words(kSum))));
  CHECK(*result.runtime == doctest::Approx(704e-6 + 12000e-12));
  CHECK(result.flops == 2.0 * 128 * 512 * 64 + 1000);
  CHECK(result.bytes == 2.0 * (128 * 512 + 512 * 64 + 128 * 64) + 12000);
  CHECK(result.metadata.at("simulator").at("simulations") == 1);
  CHECK(result.metadata.at("ops").at(0).at("simulated") == "128x512 by 512x64 of bf16");
  CHECK(result.statistics.at("per_datatype").contains("bf16"));
  CHECK(result.statistics.contains("flops_util"));
}

TEST_CASE("the overhead of an operation comes on top of the simulated time") {
  Json options = onMachine(simulator(words(kSum)));
  options["roofline"]["op_overhead_s"] = 1e-6;
  CHECK(*estimate({square()}, options).runtime == doctest::Approx(193e-6));
}

TEST_CASE("the program is told the product as it stands, and its type") {
  Tools tools;
  const std::string seen = tools.file("seen");
  const Json command = words("echo $1 $2 $3 $4 >> " + seen + "; echo time=1");
  const OpInfo tall = op("stablehlo.dot", "512x16xf16 16x32xf16", "512x32xf16");
  estimate({tall}, onMachine(simulator(command)));
  estimate({tall}, onMachine(simulator(command, {{"transpose_tall", true}})));
  CHECK(readText(seen) == "512 16 32 f16\n32 16 512 f16\n");
}

TEST_CASE("the time of a batch is that of one product, as often as there are products") {
  Tools tools;
  const std::string seen = tools.file("seen");
  const OpInfo dot =
      op("stablehlo.dot_general", "2x64x512xf32 2x512x128xf32", "2x64x128xf32", batched());
  const Json one = words("echo $1 $2 $3 >> " + seen + "; echo time=10");
  CHECK(*estimate({dot}, onMachine(simulator(one))).runtime == doctest::Approx(20e-6));
  CHECK(readText(seen) == "64 512 128\n");
}

TEST_CASE("a program that is told the batch says the time of all of it") {
  const OpInfo dot =
      op("stablehlo.dot_general", "2x64x512xf32 2x512x128xf32", "2x64x128xf32", batched());
  Json all = words("echo time=$(($5 * 10))");
  all.push_back("{batch}");
  CHECK(*estimate({dot}, onMachine(simulator(all))).runtime == doctest::Approx(20e-6));
  // One product of a batch and one alone are the same question only when the batch is not told.
  const OpInfo alone =
      op("stablehlo.dot_general", "64x512xf32 512x128xf32", "64x128xf32", matmul());
  const auto simulations = [&](const Json& command) {
    return estimate({dot, alone}, onMachine(simulator(command)))
        .metadata.at("simulator")
        .at("simulations");
  };
  CHECK(simulations(all) == 2);
  CHECK(simulations(words(kSum)) == 1);
}

TEST_CASE("equal products are simulated once, whatever else tells their operations apart") {
  Tools tools;
  const std::string seen = tools.file("seen");
  DotAttributes exact = matmul();
  exact.precision = {"HIGHEST", "HIGHEST"};
  const std::vector<OpInfo> ops = {
      square(), op("stablehlo.dot_general", "64x64xf32 64x64xf32", "64x64xf32", exact),
      op("stablehlo.dot", "64x64xf32 64x64xf32", "64x64xf32"), square()};
  const auto estimator = make("simulator", Json::object(),
                              onMachine(simulator(words("echo x >> " + seen + "; echo time=1"))));
  const Module module = moduleOf(ops);
  const EstimatorResult first = estimator->estimate(module, "", nullptr, false);
  const EstimatorResult second = estimator->estimate(module, "", nullptr, false);
  CHECK(*first.runtime == doctest::Approx(4e-6));
  CHECK(*second.runtime == *first.runtime);
  CHECK(readText(seen) == "x\n");
  CHECK(first.metadata.at("simulator").at("simulations") == 1);
  CHECK(second.metadata.at("simulator").at("simulations") == 0);
}

TEST_CASE("a convolution is the product of its windows") {
  ConvolutionAttributes conv; // NHWC input, HWIO kernel
  conv.lhsBatch = 0;
  conv.lhsFeature = 3;
  conv.lhsSpatial = {1, 2};
  conv.rhsInputFeature = 2;
  conv.rhsOutputFeature = 3;
  conv.rhsSpatial = {0, 1};
  conv.outBatch = 0;
  conv.outFeature = 3;
  conv.outSpatial = {1, 2};
  const OpInfo info =
      op("stablehlo.convolution", "2x8x8x16xf32 3x3x16x32xf32", "2x6x6x32xf32", conv);
  const EstimatorResult result = estimate({info}, onMachine(simulator(words(kSum))));
  CHECK(result.metadata.at("ops").at(0).at("simulated") == "72x144 by 144x32 of f32");
}

TEST_CASE("a product inside a fusion is simulated as well") {
  const OpInfo fused = op("mhlo.fusion", "64x64xf32 64x64xf32", "64x64xf32", {},
                          {square(), op("stablehlo.tanh", "64x64xf32", "64x64xf32")});
  const EstimatorResult result = estimate({square(), fused}, onMachine(simulator(words(kSum))));
  const double tanh = flopsOf(op("stablehlo.tanh", "64x64xf32", "64x64xf32")) * 1e-12;
  CHECK(*result.runtime == doctest::Approx(2 * 192e-6 + tanh));
  CHECK(result.metadata.at("simulator").at("simulations") == 1);
}

TEST_CASE("what is no real product, or has nothing in it, is the roofline's") {
  const Json options = onMachine(simulator(shell("exit 1 # {m} {k} {n}")));
  const OpInfo complex =
      op("stablehlo.dot", "4x4xcomplex<f32> 4x4xcomplex<f32>", "4x4xcomplex<f32>");
  CHECK(*estimate({complex}, options).runtime == *cost(complex).runtime);
  const OpInfo empty = op("stablehlo.dot", "0x4xf32 4x4xf32", "0x4xf32");
  CHECK(*estimate({empty}, options).runtime == *cost(empty).runtime);
}

TEST_CASE("products can be told in a file, and times be cycles or JSON") {
  Tools tools;
  const std::string tool = tools.write("tool", "cat \"$1\" | { read name m k n\n"
                                               "echo \"{\\\"$name\\\": {\\\"cycles\\\": $m}}\"; }");
  const Json options = {{"command", {tool, "{layers}"}}, {"layer", "Gemm {m} {k} {n}"},
                        {"pointer", "/Gemm/cycles"},     {"unit", "cycles"},
                        {"frequency_hz", 1e9},           {"roofline", unitMachine()}};
  CHECK(*estimate({square()}, options).runtime == doctest::Approx(64e-9));
}

TEST_CASE(
    "each simulation has a folder of its own, with what the program expects, and leaves none") {
  Tools tools;
  const std::string seen = tools.file("seen");
  fs::create_directory(tools.file("memory"));
  tools.write("memory/config", "");
  const Json command =
      words("test -e memory/config && pwd >> " + seen + " && touch left && echo time=1");
  const OpInfo other = op("stablehlo.dot", "8x8xf32 8x8xf32", "8x8xf32");
  estimate({square(), other},
           onMachine(simulator(command, {{"links", {tools.file("memory") + "/"}}})));
  std::istringstream folders(readText(seen));
  std::string first, second;
  folders >> first >> second;
  CHECK(!second.empty());
  CHECK(first != second);
  CHECK_FALSE(fs::exists(first));
  CHECK_FALSE(fs::exists(second));
  CHECK(fs::exists(tools.file("memory/config"))); // links are removed, not what they lead to
}

TEST_CASE("whatever a simulator does wrong fails the item with the reason and the place") {
  const auto problem = [](const Json& command, const Json& more = Json::object()) {
    const Failure failure = failureOf(square(), simulator(command, more));
    CHECK((failure.kind == FailureKind::ToolFailed));
    CHECK(failure.file == "test.mlir");
    CHECK(failure.line == 7);
    CHECK(failure.column == 11);
    const std::string what = " (simulating 64x64 by 64x64 of f32)";
    REQUIRE(failure.message.ends_with(what));
    return failure.message.substr(0, failure.message.size() - what.size());
  };
  CHECK(problem(words("exec sleep 1000"), {{"timeout_s", 0.2}}) ==
        "sh: no answer within its deadline");
  CHECK(problem(words("kill -SEGV $$")) == "sh: killed by SIGSEGV");
  CHECK(problem(words("echo broken >&2; exit 2")) == "sh: exit status 2: broken");
  CHECK(problem(words("exec head -c 10000 /dev/urandom | tr -d t")) ==
        "the program's output has no time");
  CHECK(problem(words("exec cat /dev/zero"), {{"largest_output_bytes", 1000}}) ==
        "sh: more output than is read");
  CHECK(problem(words("echo time=1.2.3")).find("no number") != std::string::npos);
  CHECK(problem(words("echo time=0")).find("no time above zero") != std::string::npos);
  CHECK(problem(words("echo time=1 time=2")) == "the program's output has 2 times instead of one");
  CHECK(problem({"no-such-simulator", "{m}", "{k}", "{n}"}) ==
        "there is no program \"no-such-simulator\"");
  CHECK(problem(words("echo time=1"), {{"links", {"/no/such/folder"}}}) ==
        "there is no /no/such/folder, which the simulator expects");
}

TEST_CASE("a failure inside a fusion has the fusion's place, and is asked again the next time") {
  Tools tools;
  const OpInfo fused = op("mhlo.fusion", "64x64xf32 64x64xf32", "64x64xf32", {}, {square()});
  const std::string flag = tools.file("flag");
  const Json options = simulator(words("test -e " + flag + " && echo time=1"));
  CHECK(failureOf(fused, options).line == 7);
  const auto estimator = make("simulator", Json::object(), onMachine(options));
  const Module module = moduleOf({fused});
  CHECK_THROWS_AS(estimator->estimate(module, "", nullptr, false), ItemError);
  tools.write("flag", "");
  CHECK(*estimator->estimate(module, "", nullptr, false).runtime == doctest::Approx(1e-6));
}

TEST_CASE("options of simulator are checked before anything runs") {
  const auto refused = [](Json options) {
    CHECK_THROWS_AS(make("simulator", Json::object(), onMachine(options)), UsageError);
  };
  refused({{"pattern", "(1)"}});
  refused(simulator(words(kSum), {{"pattern", ""}}));
  refused(simulator(words(kSum), {{"pointer", "/a"}}));
  refused(simulator(words(kSum), {{"unit", "cycles"}}));
  refused(simulator(words(kSum), {{"frequency_hz", 1e9}}));
  refused(simulator(words(kSum), {{"timeout_s", 0}}));
  refused(simulator(shell("echo 1")));                                // nothing of the product
  refused(simulator({"sim", "{layers}"}, {{"layer", "Matmul {m}"}})); // not all of it
  refused(simulator(words(kSum), {{"links", "a"}}));
}

namespace {

// Answers like the real one: reads its layers from a file, and its memory from its own folder.
std::string cocossim(const Tools& tools, const std::string& time = "$m.5 µs") {
  fs::create_directory(tools.file("dramsim3"));
  return tools.write("perf_model", "test -d dramsim3 || exit 4\n"
                                   "echo \"$@\" >> " +
                                       tools.file("seen") +
                                       "\nwhile test $# -gt 0; do case $1 in\n"
                                       "-i) cat \"$2\" >> " +
                                       tools.file("layers") +
                                       "; read name m k n < \"$2\";;\n"
                                       "-o) echo Cycles 1 > \"$2\";;\n"
                                       "esac; shift; done\n"
                                       "echo processing $name; echo \"Time: " +
                                       time + "\"; echo Simulation took 3ms");
}

Json cocossimOptions(const std::string& path) {
  return onMachine({{"cocossim_path", path}});
}

} // namespace

TEST_CASE("cocossim: one layer a product, time in microseconds, nothing shared by two runs") {
  Tools tools;
  const std::string program = cocossim(tools);
  const OpInfo dot =
      op("stablehlo.dot_general", "2x64x512xf32 2x512x128xf32", "2x64x128xf32", batched());
  const EstimatorResult result = estimate({dot}, cocossimOptions(program), "cocossim");
  CHECK(*result.runtime == doctest::Approx(2 * 64.5e-6));
  CHECK(result.flops == 2.0 * 2 * 64 * 512 * 128);
  CHECK(result.metadata.at("cocossim").at("simulations") == 1);
  CHECK(readText(tools.file("layers")) == "Matmul 64 512 128\n");
  const std::string words = readText(tools.file("seen"));
  CHECK(words.starts_with("-c 1 -sa_sz 128 -vu_sz 1024 -ws 1 -f 0.94 -i /"));
  CHECK(words.find(tools.path()) == std::string::npos); // its files are not where the program is
}

TEST_CASE("cocossim: a tall product is told transposed, unless that is not wanted") {
  Tools tools;
  Json options = cocossimOptions(cocossim(tools));
  options.update({{"frequency", 1.5}, {"chips", 4}});
  const OpInfo tall = op("stablehlo.dot", "512x16xf16 16x32xf16", "512x32xf16");
  CHECK(*estimate({tall}, options, "cocossim").runtime == doctest::Approx(32.5e-6));
  options["transpose_tall"] = false;
  CHECK(*estimate({tall}, options, "cocossim").runtime == doctest::Approx(512.5e-6));
  CHECK(readText(tools.file("layers")) == "Matmul 32 16 512\nMatmul 512 16 32\n");
  CHECK(readText(tools.file("seen")).find("-c 4 -sa_sz 128 -vu_sz 1024 -ws 1 -f 1.5 ") == 0);
}

TEST_CASE("cocossim: the micro sign in both of its spellings, or as u") {
  for (const char* unit : {"\u00b5s", "\u03bcs", "us"}) {
    Tools tools;
    const std::string program = cocossim(tools, std::string("1.25e3") + unit);
    CHECK(*estimate({square()}, cocossimOptions(program), "cocossim").runtime ==
          doctest::Approx(1.25e-3));
  }
}

TEST_CASE("cocossim: a run without a time, and extents beyond 32 bits, fail the item") {
  Tools tools;
  CHECK(failureOf(square(), {{"cocossim_path", cocossim(tools, "12 ms")}}, "cocossim")
            .message.starts_with("the program's output has no time"));
  CHECK(failureOf(square(), {{"cocossim_path", "/no/perf_model"}}, "cocossim")
            .message.starts_with("there is no program \"/no/perf_model\""));
  const OpInfo huge = op("stablehlo.dot", "4x4294967296xf32 4294967296x4xf32", "4x4xf32");
  const Failure failure = failureOf(huge, {{"cocossim_path", cocossim(tools)}}, "cocossim");
  CHECK(failure.message.find("4294967296") != std::string::npos);
  CHECK(failure.line == 7);
}

TEST_CASE("simulators run in several actors, and say when their program is missing") {
  EstimatorRegistry registry;
  registerBuiltins(registry);
  for (const char* name : {"simulator", "cocossim"})
    CHECK(registry.find(name)->allowMultiprocess);
  CHECK(registry.find("simulator")->unavailable == "");
  if (findProgram("perf_model").empty())
    CHECK(registry.find("cocossim")->unavailable == "there is no program perf_model in $PATH");
  CHECK_FALSE(registry.find("cocossim")->unavailabilityIsFinal);
}
