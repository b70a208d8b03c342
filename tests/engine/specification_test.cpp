// From the text of a specification to a plan, and every mistake on the way.
#include <doctest/doctest.h>

#include "engine/json_text.h"
#include "engine/sweep_plan.h"
#include "plan_fixture.h"

using namespace nocturne;
using test::mistake;

namespace {

struct Folder : test::ScratchDir {
  Folder() {
    write("models/b.mlir");
    write("models/a.mlir");
    write("one.mlir");
    write("machines/ours.json", R"({"memory_bandwidth": 1e12, "peak_flops": 2e12})");
  }
};

const std::string& folder() {
  static const Folder made;
  return made.path();
}

SweepPlan plan(const std::string& estimators, const std::string& hardware,
               const std::string& more = "") {
  return planFromJson(Json::parse(R"({"modules": ["one.mlir"], "estimators": )" + estimators +
                                  R"(, "hardware": )" + hardware + more + "}"),
                      folder(), test::sources());
}

std::string mistakeIn(const std::string& estimators, const std::string& hardware,
                      const std::string& more = "") {
  return mistake([&] { plan(estimators, hardware, more); });
}

const std::string kRoofline = R"(["roofline"])";
const std::string kA40 = R"(["A40"])";

std::string estimatorMistake(const std::string& entry) {
  return mistakeIn('[' + entry + ']', kA40);
}
std::string machineMistake(const std::string& entry) {
  return mistakeIn(kRoofline, '[' + entry + ']');
}

} // namespace

TEST_CASE("the specification that docs/formats.md shows becomes the plan that it describes") {
  std::string page = readTextFile(NOCTURNE_SOURCE_DIR "/docs/formats.md");
  size_t begin = page.find("```json\n") + 8;
  std::string path = folder() + "/sweep.json";
  std::ofstream(path) << page.substr(begin, page.find("```", begin) - begin);
  SweepPlan read = planFromFile(path, test::sources());
  REQUIRE(read.modules.size() == 3);
  CHECK(read.modules[0].name == "models/a.mlir");
  CHECK(read.modules[2].path == folder() + "/one.mlir");
  CHECK(read.outputDir == folder() + "/out");
  CHECK(read.cacheDir == folder() + "/out/cache");
  // Two efficiencies, on two machines and on two bandwidths times four scales of a third.
  REQUIRE(read.pointCount() == 2 * (2 + 2 * 4));
  CHECK(read.axisColumns() ==
        std::vector<std::string>{"compute_efficiency", "memory_bandwidth", "compute_scale"});
  CHECK(read.pointNames(1).hardware == "ours");
  CHECK(read.pointNames(3).hardware == "a100-bw1500000000000-c2");
  CHECK(read.pointNames(19).hardware == "a100-bw2000000000000-c8");
  CHECK(read.pointNames(19).axes[0].second == 1);
  CHECK(read.notes.size() == 1); // hespas has an A100_SXM_80GB with other numbers
}

TEST_CASE("comments in a specification are passed over") {
  std::string path = folder() + "/commented.json";
  std::ofstream(path) << R"({ // to the end of the line
    "modules": ["one.mlir"], "estimators": ["roofline"], /* within one */ "hardware": ["A40"]})";
  CHECK(planFromFile(path, test::sources()).pointCount() == 1);
}

TEST_CASE("settings have defaults and spellings") {
  SweepPlan plain = plan(kRoofline, kA40);
  CHECK(plain.outputDir == folder() + "/out");
  CHECK(plain.cacheDir == folder() + "/out/cache");
  CHECK(plain.cacheMode == CacheMode::OnDisk);
  SweepPlan other = plan(kRoofline, kA40,
                         R"(, "disable_cache": "true", "output_dir": "x/y",
                            "assume": {"trip_count": 7, "branch": "mean", "entry": "f"})");
  CHECK(other.cacheMode == CacheMode::Disabled);
  CHECK(other.cacheDir == folder() + "/x/y/cache");
  CHECK(other.assume.tripCount == 7);
  CHECK(other.assume.entry == "f");
  CHECK(plan(kRoofline, kA40, R"(, "in_memory_only_cache": true)").cacheMode ==
        CacheMode::InMemory);
}

TEST_CASE("mistakes at the top have their place") {
  CHECK(mistakeIn(kRoofline, kA40, R"(, "asume": {})") ==
        "/asume: a specification has no key \"asume\"; did you mean \"assume\"?");
  CHECK(mistakeIn(kRoofline, kA40, R"(, "assume": {"branch": "frist"})") ==
        "/assume/branch: expected one of \"largest\", \"first\" or \"mean\", not \"frist\"; did "
        "you mean \"first\"?");
  CHECK(mistakeIn(kRoofline, kA40, R"(, "assume": {"trips": 1})").starts_with("/assume/trips: "));
  CHECK(mistakeIn(kRoofline, kA40, R"(, "disable_cache": 1)").starts_with("/disable_cache: "));
  CHECK(mistakeIn(kRoofline, kA40, R"(, "disable_cache": true, "in_memory_only_cache": true)") !=
        "");
  CHECK(mistakeIn(kRoofline, kA40, R"(, "output_dir": "")") == "/output_dir: expected a folder");
  CHECK(mistakeIn("[]", kA40) == "/estimators: expected an array of estimators, not []");
  CHECK(mistakeIn(kRoofline, "[]") == "/hardware: expected an array of machines, not []");
  auto text = [](const char* json) {
    return mistake([&] { planFromJson(Json::parse(json), folder(), test::sources()); });
  };
  CHECK(text("3") == "expected a specification (an object), not 3");
  CHECK(text(R"({"estimators": ["roofline"]})") == "the specification has no \"modules\"");
  CHECK(text(R"({"modules": ["one.mlir", "on.mlir"], "estimators": ["roofline"],
                 "hardware": ["A40"]})") ==
        "/modules/1: there is no file 'on.mlir'; did you mean \"one.mlir\"?");
  CHECK(text(R"({"modules": ["*.mlir", 3], "estimators": ["roofline"], "hardware": ["A40"]})") ==
        "/modules/1: expected text, not 3");
}

TEST_CASE("mistakes in an estimator have their place and the nearest name") {
  CHECK(estimatorMistake(R"("rooflin")") ==
        "/estimators/0: there is no estimator \"rooflin\"; did you mean \"roofline\"?");
  CHECK(estimatorMistake(R"({"name": "rooflin"})").starts_with("/estimators/0/name: "));
  CHECK(estimatorMistake(R"({"set": {}})") == "/estimators/0: the estimator has no \"name\"");
  CHECK(estimatorMistake(R"("cpu")") ==
        "/estimators/0: the estimator \"cpu\" cannot run here: no compiler is installed");
  CHECK(estimatorMistake(R"("tool")") ==
        "/estimators/0: the estimator \"tool\" cannot run here: there is no program tool in $PATH");
  // Options may name the program.
  CHECK(estimatorMistake(R"({"name": "tool", "set": {"path": "/opt/tool"}})") == "");
  CHECK(estimatorMistake(R"({"name": "systolic", "set": {"row": 1}})") ==
        "/estimators/0/set/row: there is no option \"row\"; did you mean \"rows\"?");
  CHECK(estimatorMistake(R"({"name": "systolic", "set": {"rows": 0}})") ==
        "/estimators/0/set/rows: expected a whole number above 0, not 0");
  CHECK(estimatorMistake(R"({"name": "systolic", "set": {"roofline": {"peak_flop": 1}}})") ==
        "/estimators/0/set/roofline/peak_flop: there is no option \"peak_flop\"; did you mean "
        "\"peak_flops\"?");
  CHECK(estimatorMistake(R"({"name": "systolic", "grid": {"peak_flops": [1]}})") ==
        "/estimators/0/grid/peak_flops: there is no option \"peak_flops\"; did you mean "
        "\"roofline.peak_flops\"?");
  CHECK(estimatorMistake(R"({"name": "systolic", "grid": {"rows": [1, "x"]}})") ==
        "/estimators/0/grid/rows/1: expected a whole number above 0, not \"x\"");
  CHECK(estimatorMistake(R"({"name": "systolic", "grid": {"rows": [1, "1"]}})") ==
        "/estimators/0/grid/rows/1: the value 1 appears twice on this axis");
  CHECK(estimatorMistake(R"({"name": "systolic", "set": {"rows": 1}, "grid": {"rows": [2]}})") ==
        "/estimators/0/grid/rows: \"rows\" is both set and an axis");
  CHECK(estimatorMistake(R"("systolic")") ==
        "/estimators/0: estimator systolic on machine A40: a value is needed for rows");
  CHECK(mistakeIn(R"(["roofline", "roofline"])", kA40) ==
        "/estimators/1: the estimator \"roofline\" appears twice with the same options");
}

TEST_CASE("an estimator's option for a cache is refused, since a sweep has one cache") {
  CHECK(estimatorMistake(R"({"name": "roofline", "set": {"cache_dir": "b"}})") ==
        "/estimators/0/set/cache_dir: a sweep has one cache for all of its estimators; "
        "\"cache_dir\" at the top of the specification or --cache-dir of nocturne sweep decides "
        "about it");
  CHECK(estimatorMistake(R"({"name": "roofline", "set": {"disable_cache": true}})")
            .find("--disable-cache") != std::string::npos);
  CHECK(estimatorMistake(R"({"name": "roofline", "grid": {"in_memory_only_cache": [false, true]}})")
            .starts_with("/estimators/0/grid/in_memory_only_cache: a sweep has one cache"));
}

TEST_CASE("mistakes in a machine have their place and the nearest name") {
  CHECK(machineMistake(R"("H100_SMX_80GB")") ==
        "/hardware/0: there is no machine \"H100_SMX_80GB\"; did you mean \"H100_SXM_80GB\"?");
  CHECK(machineMistake(R"({"base": "A4O"})").starts_with("/hardware/0/base: "));
  CHECK(machineMistake(R"({"base": "A40", "grid": {"memory_bandwith": [1]}})") ==
        "/hardware/0/grid/memory_bandwith: a machine has no \"memory_bandwith\"; did you mean "
        "\"memory_bandwidth\"?");
  CHECK(machineMistake(R"({"base": "A40", "grid": {"per_datatype_flops.bf61": [1]}})")
            .starts_with("/hardware/0/grid/per_datatype_flops.bf61: there is no element type"));
  CHECK(machineMistake(R"({"base": "A40", "grid": {"per_datatype_flops": [1]}})")
            .starts_with("/hardware/0/grid/per_datatype_flops: a whole table is no axis"));
  CHECK(machineMistake(R"({"base": "A40", "grid": {"vendor": ["x"]}})") ==
        "/hardware/0/grid/vendor: \"vendor\" only informs; it is no axis");
  CHECK(machineMistake(R"({"base": "A40", "grid": {"compute_scale": [0]}})") ==
        "/hardware/0/grid/compute_scale/0: expected a positive number, not 0");
  CHECK(machineMistake(R"({"base": "A40", "set": {"num_npus": 1.5}})")
            .starts_with("/hardware/0/set/num_npus: "));
  CHECK(machineMistake(R"({"base": "A40", "sets": {}})") ==
        "/hardware/0/sets: a machine with a base has no key \"sets\"; did you mean \"set\"?");
  CHECK(machineMistake(R"({"grid": {}})") == "/hardware/0: \"grid\" needs a \"base\" to change");
  CHECK(machineMistake(R"({"memory_bandwidth": 1})") == "/hardware/0: the machine has no \"name\"");
  CHECK(machineMistake("3").starts_with("/hardware/0: "));
  // A machine without a peak serves no roofline.
  CHECK(machineMistake(R"({"name": "m", "memory_bandwidth": 1})") ==
        "/estimators/0: estimator roofline on machine m: a value is needed for peak_flops (or for "
        "peak_flops of the machine)");
}

TEST_CASE("the peak alone may not be changed where there is a table") {
  std::string text = machineMistake(R"({"base": "A40", "set": {"peak_flops": 1e12}})");
  CHECK(text.starts_with("/hardware/0/set/peak_flops: "));
  CHECK(text.find("compute_scale") != std::string::npos);
  CHECK(machineMistake(R"({"base": "A40", "grid": {"peak_flops": [1e12]}})")
            .starts_with("/hardware/0/grid/peak_flops: "));
  CHECK(machineMistake(
            R"({"base": "A40", "set": {"peak_flops": 1e12, "per_datatype_flops": {}}})") == "");
  CHECK(machineMistake(
            R"({"base": "A40", "set": {"peak_flops": 1e12, "per_datatype_flops.f32": 1e12}})") ==
        "");
  CHECK(machineMistake(R"({"base": "hespas/MI300X3D", "set": {"peak_flops": 1e12}})") == "");
}

TEST_CASE("names of machines are checked") {
  CHECK(machineMistake(R"({"base": "A40", "name": "x", "grid": {"compute_scale": [1, 2]}})") ==
        "/hardware/0/name: several machines would be named \"x\"; add {compute_scale} to the name");
  CHECK(machineMistake(
            R"({"base": "A40", "name": "x{compute_scal}", "grid": {"compute_scale": [1, 2]}})") ==
        "/hardware/0/name: the name has {compute_scal}, but the grid has no such axis; did you "
        "mean \"compute_scale\"?");
  CHECK(mistakeIn(kRoofline, R"(["A40", "L40S", "A40"])") ==
        "/hardware/2: two machines are named \"A40\" (the other is at /hardware/0); give one of "
        "them a \"name\" of its own");
  // 1|11 and 11|1 run together.
  CHECK(machineMistake(R"({"base": "A40", "name": "x{compute_scale}{bandwidth_scale}",
                           "grid": {"compute_scale": [1, 11], "bandwidth_scale": [1, 11]}})") ==
        "/hardware/0: two machines are named \"x111\"; put something between the placeholders of "
        "the name");
  CHECK(machineMistake(R"({"base": "A40", "name": "x{compute_scale}{bandwidth_scale}",
                           "grid": {"compute_scale": [1, 2], "bandwidth_scale": [1, 2]}})") == "");
  CHECK(mistakeIn(kRoofline, R"([{"base": "A40", "name": "x{compute_scale}",
                                  "grid": {"compute_scale": [1, 2]}},
                                 {"base": "L40S", "name": "x2"}])")
            .starts_with("/hardware/1: two machines are named \"x2\""));
}

TEST_CASE("machines without a name of their own are named after their axes") {
  SweepPlan named = plan(kRoofline, R"([{"base": "A40", "set": {"num_npus": 4},
      "grid": {"memory_bandwidth": [1e12], "compute_scale": [1.5, 2]}}, {"base": "A40"}])");
  CHECK(named.pointNames(0).hardware ==
        "A40-num_npus4-compute_scale1.5-memory_bandwidth1000000000000");
  CHECK(named.pointNames(2).hardware == "A40");
}

TEST_CASE("a plan without hardware has one machine that says nothing") {
  auto read = [](const char* estimators) {
    return planFromJson(
        Json::parse(std::string(R"({"modules": ["one.mlir"], "estimators": )") + estimators + "}"),
        folder(), test::sources());
  };
  CHECK(read(R"(["counting"])").pointNames(0).hardware == "none");
  CHECK(mistake([&] { read(R"(["roofline"])"); }).starts_with("/estimators/0: "));
}

TEST_CASE("syntax errors have a place in the file") {
  std::string path = folder() + "/broken.json";
  std::ofstream(path) << "{\n  \"modules\": [\"a\"]\n  \"estimators\": []\n}";
  CHECK(mistake([&] { planFromFile(path, test::sources()); }).starts_with(path + ":3:3: "));
}

TEST_CASE("a mistake in a file names the file and the place in it") {
  const std::string path = folder() + "/mistaken.json";
  std::ofstream(path) << R"({"modules": ["one.mlir"], "estimators": ["countin"]})";
  try {
    planFromFile(path, test::sources());
    FAIL("accepted");
  } catch (const UsageError& error) {
    CHECK(std::string(error.what()).starts_with(path + ": /estimators/0: "));
    CHECK(error.pointer() == "/estimators/0");
  }
}

TEST_CASE("a plan is made from the command line as well") {
  SweepPlan made =
      planFromArguments({folder() + "/models"}, {"A40", folder() + "/machines/ours.json"},
                        {"roofline"}, test::sources());
  CHECK(made.modules.size() == 2);
  CHECK(made.pointCount() == 2);
  CHECK(made.outputDir == "out");
  CHECK(made.pointNames(1).hardware == "ours");
  CHECK(mistake([] { planFromArguments({"none.mlir"}, {"A40"}, {"roofline"}, test::sources()); }) ==
        "there is no file 'none.mlir'");
  CHECK(mistake([] { planFromArguments({"."}, {"A40"}, {"rooflin"}, test::sources()); }) ==
        "there is no estimator \"rooflin\"; did you mean \"roofline\"?");
}

TEST_CASE("options that the command line sets later may be missing at first") {
  SweepPlan made =
      planFromArguments({folder() + "/one.mlir"}, {"A40"}, {"systolic"}, test::sources());
  CHECK_THROWS_AS(made.validate(test::lookup()), UsageError);
  made.estimators[0].set["rows"] = "64";
  made.hardware[0].set["compute_scale"] = "2";
  made.hardware[0].set["memory_capacity"] = "5e9";
  made.index();
  made.validate(test::lookup());
  Point point = made.point(0, test::lookup(), "");
  CHECK(point.options["rows"] == 64);
  CHECK(point.options["roofline"]["peak_flops"] == 2 * 37.4e12);
  CHECK(point.memoryCapacity == 5e9);
}

TEST_CASE("a peak that the table hides is remarked") {
  SweepPlan read = plan(R"([{"name": "roofline", "set": {"peak_flops": 1e12}}])", kA40);
  REQUIRE(read.notes.size() == 1);
  CHECK(read.notes[0].starts_with("estimator roofline: peak_flops is used only for types without"));
  CHECK(
      plan(R"([{"name": "roofline", "set": {"peak_flops": 1e12, "per_datatype_flops": {}}}])", kA40)
          .notes.empty());
}
