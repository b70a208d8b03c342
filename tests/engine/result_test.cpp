#include "engine/result.h"

#include <doctest/doctest.h>

using namespace nocturne;

namespace {

EstimatorResult sample() {
  EstimatorResult result;
  result.runtime = 0.25;
  result.moduleFile = "a.mlir";
  result.moduleIndex = 7;
  result.statistics = {{"ops", 3}};
  result.flops = 12; // not part of the JSON form
  return result;
}

Json sampleJson() {
  return {{"success", true},         {"runtime_estimate", 0.25}, {"metadata", nullptr},
          {"module_file", "a.mlir"}, {"module_idx", 7},          {"statistics", {{"ops", 3}}}};
}

std::string refusal(const Json& json) {
  try {
    estimatorResultFromJson(json);
  } catch (const UsageError& error) {
    return error.pointer();
  }
  return "accepted";
}

} // namespace

TEST_CASE("every bound has a name") {
  CHECK(toString(Bound::Free) == "free");
  CHECK(toString(Bound::Compute) == "compute");
  CHECK(toString(Bound::Memory) == "memory");
  CHECK(toString(Bound::Overhead) == "overhead");
}

TEST_CASE("a result has exactly the six keys") {
  CHECK(toJson(sample()) == sampleJson());
}

TEST_CASE("the text of a result has the keys in their order") {
  CHECK(toJsonText(sample()) ==
        R"({"success":true,"runtime_estimate":0.25,"metadata":null,"module_file":"a.mlir",)"
        R"("module_idx":7,"statistics":{"ops":3}})");
  EstimatorResult none = sample();
  none.success = false;
  none.runtime.reset();
  none.statistics = nullptr;
  CHECK(toJsonText(none, 1) ==
        "{\n \"success\": false,\n \"runtime_estimate\": null,\n \"metadata\": null,\n"
        " \"module_file\": \"a.mlir\",\n \"module_idx\": 7,\n \"statistics\": null\n}");
}

TEST_CASE("a file name that is no UTF-8 does not cost the result") {
  EstimatorResult result = sample();
  result.moduleFile = "a\xff.mlir";
  CHECK(Json::parse(toJsonText(result)).at("module_file") == "a\xEF\xBF\xBD.mlir");
}

TEST_CASE("a result reads back from its JSON form") {
  EstimatorResult result = estimatorResultFromJson(Json::parse(toJsonText(sample())));
  CHECK(result.success);
  CHECK(result.runtime == 0.25);
  CHECK(result.metadata.is_null());
  CHECK(result.moduleFile == "a.mlir");
  CHECK(result.moduleIndex == 7);
  CHECK(result.statistics == Json{{"ops", 3}});
  Json noRuntime = sampleJson();
  noRuntime["runtime_estimate"] = nullptr;
  CHECK_FALSE(estimatorResultFromJson(noRuntime).runtime);
}

TEST_CASE("a missing key is named") {
  Json keys = sampleJson();
  for (const auto& [key, value] : keys.items()) {
    Json json = sampleJson();
    json.erase(key);
    CHECK(refusal(json) == "/" + key);
  }
}

TEST_CASE("a key of the wrong type is named") {
  Json wrong = {{"success", "true"}, {"runtime_estimate", "1"}, {"metadata", Json::array()},
                {"module_file", 1},  {"module_idx", -1},        {"statistics", 3}};
  for (const auto& [key, value] : wrong.items()) {
    Json json = sampleJson();
    json[key] = value;
    CHECK(refusal(json) == "/" + key);
  }
}

TEST_CASE("an unknown key and anything but an object are refused") {
  Json json = sampleJson();
  json["runtime"] = 1;
  CHECK(refusal(json) == "/runtime");
  CHECK(refusal(Json::array()) == "");
}

TEST_CASE("coverage is the share of runs with a rule, and whole for an empty module") {
  ModuleResult result;
  CHECK(result.coverage() == 1);
  result.totalRuns = 8;
  result.coveredRuns = 6;
  CHECK(result.coverage() == 0.75);
}
