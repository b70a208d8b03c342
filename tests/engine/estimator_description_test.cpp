#include "engine/estimator_description.h"

#include <doctest/doctest.h>

#include "engine/sweep_plan.h"
#include "plan_fixture.h"

using namespace nocturne;
using test::mistake;

namespace {

EstimatorDescription sample() {
  EstimatorDescription out;
  out.name = "array";
  out.help = "an array";
  out.versions = {{"estimator", 1}, {"array", 3}};
  out.options.options = {
      {.name = "rows", .validate = option::positiveInteger, .help = "how many"},
      {.name = "flow",
       .validate = option::oneOf({"in", "out"}),
       .defaultValue = "in",
       .optional = true},
      {.name = "own", .validate = [](const Json& value) { return value; }, .optional = true},
      {.name = "log", .validate = option::text, .optional = true, .influencesResult = false}};
  out.options.nested["roofline"].options = {{.name = "peak_flops",
                                             .validate = option::positive,
                                             .topLevel = false,
                                             .hardwareKey = "peak_flops"}};
  out.allowMultiprocess = true;
  out.environment = "build 7";
  return out;
}

} // namespace

TEST_CASE("a plan made from a declaration in JSON has the keys of one made from the code") {
  const EstimatorDescription original = sample();
  const Json json = toJson(original);
  const EstimatorDescription read = estimatorDescriptionFromJson(Json::parse(json.dump()));
  CHECK(toJson(read) == json);
  const Json given = {{"rows", "8"}, {"log", "x"}};
  const Json machine = {{"peak_flops", 1e12}};
  const Json options = resolveOptions(read.options, given, machine, "");
  CHECK(options == resolveOptions(original.options, given, machine, ""));
  CHECK(configurationDigest(read, options, "reader") ==
        configurationDigest(original, options, "reader"));
  CHECK(mistake([&] {
          resolveOptions(read.options, {{"rows", 1}, {"flow", "inn"}}, machine, "");
        }).find("did you mean \"in\"") != std::string::npos);
}

TEST_CASE("a declaration in JSON that is none says where") {
  const auto pointerOf = [](const Json& json) {
    try {
      estimatorDescriptionFromJson(json);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(pointerOf(3).find("expected an object") != std::string::npos);
  Json json = toJson(sample());
  json["schema"]["options"][1]["kind"] = "one_off";
  CHECK(pointerOf(json) ==
        "/schema/options/1/kind: there is no kind of option \"one_off\"; did you "
        "mean \"one_of\"?");
  json = toJson(sample());
  json["schema"]["bases"]["roofline"]["options"][0].erase("optional");
  CHECK(pointerOf(json) == "/schema/bases/roofline/options/0: there is no \"optional\"");
  json = toJson(sample());
  json["versions"] = "3";
  CHECK(pointerOf(json).starts_with("/versions: "));
}
