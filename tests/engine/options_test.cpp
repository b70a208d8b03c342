#include "engine/options.h"

#include <limits>

#include <doctest/doctest.h>

#include "plan_fixture.h"

using namespace nocturne;
using test::mistake;

namespace {

Json machine() {
  return {
      {"peak_flops", 2e12}, {"memory_bandwidth", 1e12}, {"per_datatype_flops", {{"bf16", 8e12}}}};
}

Json resolve(const OptionSchema& schema, const Json& given) {
  return resolveOptions(schema, given, machine(), "/set");
}

} // namespace

TEST_CASE("validators take numbers as text, as the command line gives them") {
  CHECK(option::positive("312e12") == 312e12);
  CHECK(option::positive(3) == 3.0);
  CHECK(option::positiveInteger("4") == 4);
  CHECK(option::positiveInteger(9.7e12) == 9700000000000);
  CHECK(option::nonNegative(0) == 0.0);
  CHECK(option::fraction("0.5") == 0.5);
  CHECK(option::nonNegativeInteger(0) == 0);
}

TEST_CASE("validators say what they expected and what they got") {
  CHECK(mistake([] { option::positive(0); }) == "expected a positive number, not 0");
  CHECK(mistake([] { option::positive("fast"); }) == "expected a positive number, not \"fast\"");
  CHECK(mistake([] { option::positive("nan"); }) != "");
  CHECK(mistake([] { option::positive(std::numeric_limits<double>::infinity()); }) != "");
  CHECK(mistake([] { option::positive(Json::array()); }) != "");
  CHECK(mistake([] { option::positiveInteger(4.5); }) ==
        "expected a whole number above 0, not 4.5");
  CHECK(mistake([] { option::positiveInteger(true); }) != "");
  CHECK(mistake([] { option::fraction(1.01); }) != "");
  CHECK(mistake([] { option::fraction(0); }) != "");
  CHECK(mistake([] { option::text(1); }) == "expected text, not 1");
  CHECK(mistake([] { option::positiveTable({{"bf16", -1}}); }) ==
        "\"bf16\": expected a positive number, not -1");
  CHECK(mistake([] { option::positive(std::string(500, 'x')); }).size() < 120);
}

TEST_CASE("the word false is false, and a number is no truth value") {
  CHECK(option::boolean("false") == false);
  CHECK(option::boolean("true") == true);
  CHECK(option::boolean(false) == false);
  CHECK(mistake([] { option::boolean(64); }) == "expected true or false, not 64");
}

TEST_CASE("a choice lists its values and names the nearest") {
  auto validate = option::oneOf({"largest", "first", "mean"});
  CHECK(validate("first") == "first");
  CHECK(mistake([&] { validate("larget"); }) ==
        "expected one of \"largest\", \"first\" or \"mean\", not \"larget\"; did you mean "
        "\"largest\"?");
  CHECK(mistake([&] { validate(3); }) ==
        "expected one of \"largest\", \"first\" or \"mean\", not 3");
}

TEST_CASE("a configuration is filled from what is given, the machine and the defaults") {
  Json resolved = resolve(test::rooflineOptions(), {{"peak_flops", "5e12"}});
  CHECK(resolved == Json({{"peak_flops", 5e12},
                          {"memory_bandwidth", 1e12},
                          {"per_datatype_flops", {{"bf16", 8e12}}},
                          {"compute_efficiency", 1.0},
                          {"cache_dir", "cache"}}));
}

TEST_CASE("a machine fills options at any nesting, and null means not given") {
  Json resolved = resolve(test::systolicOptions(), {{"rows", 64}, {"columns", nullptr}});
  CHECK(resolved["roofline"]["peak_flops"] == 2e12);
  CHECK(resolved["columns"] == 128);
  CHECK(resolved["rows"] == 64);
  Json explicitly =
      resolve(test::systolicOptions(), {{"rows", 64}, {"roofline", {{"memory_bandwidth", 7}}}});
  CHECK(explicitly["roofline"]["memory_bandwidth"] == 7);
}

TEST_CASE("an unknown option is an error with its place and the nearest name") {
  OptionSchema schema = test::systolicOptions();
  CHECK(mistake([&] { resolve(schema, {{"rows", 1}, {"colums", 2}}); }) ==
        "/set/colums: there is no option \"colums\"; did you mean \"columns\"?");
  CHECK(mistake([&] { resolve(schema, {{"rows", 1}, {"roofline", {{"peak_flop", 2}}}}); }) ==
        "/set/roofline/peak_flop: there is no option \"peak_flop\"; did you mean "
        "\"peak_flops\"?");
  // The right name at the wrong level.
  CHECK(mistake([&] { resolve(schema, {{"rows", 1}, {"peak_flops", 2}}); }) ==
        "/set/peak_flops: there is no option \"peak_flops\"; did you mean "
        "\"roofline.peak_flops\"?");
  CHECK(mistake([&] { resolve(schema, {{"zzzzzzzzzz", 1}}); }) ==
        "/set/zzzzzzzzzz: there is no option \"zzzzzzzzzz\"");
}

TEST_CASE("a wrong value is an error with its place") {
  OptionSchema schema = test::systolicOptions();
  CHECK(mistake([&] { resolve(schema, {{"rows", 0}}); }) ==
        "/set/rows: expected a whole number above 0, not 0");
  CHECK(mistake([&] { resolve(schema, {{"rows", 1}, {"roofline", 3}}); }) ==
        "/set/roofline: expected an object of options, not 3");
  CHECK(mistake([&] { resolve(schema, {{"rows", {{"a", 1}}}}); }) ==
        "/set/rows: expected a whole number above 0, not {\"a\":1}");
  CHECK(mistake([&] { resolve(schema, 3); }) != "");
}

TEST_CASE("all missing options are reported together") {
  CHECK(mistake([] { resolveOptions(test::systolicOptions(), Json(), Json(), "/set"); }) ==
        "/set: values are needed for rows, roofline.peak_flops, roofline.memory_bandwidth");
  CHECK(mistake([] { resolveOptions(test::systolicOptions(), Json(), Json::object(), "/set"); }) ==
        "/set: values are needed for rows, roofline.peak_flops (or for peak_flops of the machine), "
        "roofline.memory_bandwidth (or for memory_bandwidth of the machine)");
}

TEST_CASE("defaults and machine values are validated as well") {
  OptionSchema schema{{{.name = "size", .validate = option::positive, .defaultValue = -1}}, {}};
  CHECK(mistake([&] { resolveOptions(schema, Json(), Json(), ""); }) ==
        "the default of size: expected a positive number, not -1");
  CHECK(mistake([] {
          resolveOptions(test::rooflineOptions(), Json(), {{"peak_flops", "x"}}, "");
        }) == "the machine's peak_flops: expected a positive number, not \"x\"");
}

TEST_CASE("only influencing options make the text of a key") {
  OptionSchema schema = test::systolicOptions();
  Json one = resolve(schema, {{"rows", 64}, {"cache_dir", "a"}});
  Json other = resolve(schema, {{"rows", 64.0}, {"cache_dir", "b"}});
  CHECK(influencingText(schema, one) == influencingText(schema, other));
  CHECK(influencingText(schema, one) ==
        R"({"columns":128,"dataflow":"weight_stationary","roofline":{"compute_efficiency":1,)"
        R"("memory_bandwidth":1000000000000,"peak_flops":2000000000000,)"
        R"("per_datatype_flops":{"bf16":8000000000000}},"rows":64})");
  Json third = resolve(schema, {{"rows", 65}});
  CHECK(influencingText(schema, one) != influencingText(schema, third));
  CHECK(influencingText({}, Json::object()) == "{}");
}

TEST_CASE("canonical text has sorted keys and one spelling of a number") {
  CHECK(canonicalJson(Json::parse(R"({"b": 1.0, "a": [1, 2.50, "x\ny", true, null], "c": {}})")) ==
        R"({"a":[1,2.5,"x\ny",true,null],"b":1,"c":{}})");
  CHECK(canonicalJson(Json(1)) == canonicalJson(Json(1.0)));
  CHECK(canonicalJson(Json(1e21)) == "1e+21");
  CHECK(canonicalJson(Json::array()) == "[]");
  CHECK(canonicalJson(Json("\xff")) == "\"\xEF\xBF\xBD\""); // no UTF-8 is no reason to throw
}

TEST_CASE("paths reach nested options and entries of tables") {
  OptionSchema schema = test::systolicOptions();
  CHECK(hasPath(schema, "rows"));
  CHECK(hasPath(schema, "roofline.peak_flops"));
  CHECK(hasPath(schema, "roofline.per_datatype_flops.bf16"));
  CHECK_FALSE(hasPath(schema, "roofline"));
  CHECK_FALSE(hasPath(schema, "rows.x"));
  CHECK_FALSE(hasPath(schema, "peak_flops"));
  CHECK_FALSE(hasPath(schema, ""));
  CHECK(optionPaths(schema) ==
        std::vector<std::string>{"rows", "columns", "dataflow", "cache_dir", "roofline.peak_flops",
                                 "roofline.memory_bandwidth", "roofline.per_datatype_flops",
                                 "roofline.compute_efficiency"});
  Json object = Json::object();
  setAtPath(object, "rows", 3);
  setAtPath(object, "roofline.per_datatype_flops.bf16", 5);
  CHECK(object == Json({{"rows", 3}, {"roofline", {{"per_datatype_flops", {{"bf16", 5}}}}}}));
}

TEST_CASE("the nearest name is near or nothing") {
  std::vector<std::string> names = {"H100_PCIe_80GB", "H100_SXM_80GB", "A100_SXM_80GB"};
  CHECK(nearestName("H100_SMX_80GB", names) == "H100_SXM_80GB");
  CHECK(nearestName("h100_sxm_80gb", names) == "H100_SXM_80GB");
  CHECK(nearestName("H100", names) == "H100_SXM_80GB"); // the shortest that goes on like this
  CHECK(nearestName("quantum", names) == "");
  CHECK(nearestName("", names) == "");
  CHECK(nearestName("x", {"y"}) == "");
  CHECK(nearestName(std::string(100000, 'a'), names) == "");
  CHECK(didYouMean("rowz", {"rows"}) == "; did you mean \"rows\"?");
  CHECK(didYouMean("rowz", {}) == "");
}

TEST_CASE("flat names stand for paths, and null changes nothing") {
  OptionSchema schema;
  schema.options.push_back({.name = "rows", .validate = option::positiveInteger});
  schema.nested["roofline"].options.push_back({.name = "peak_flops", .validate = option::positive});
  CHECK(pathOfFlatName(schema, "roofline_peak_flops") == "roofline.peak_flops");
  CHECK(pathOfFlatName(schema, "roofline.peak_flops") == "roofline.peak_flops");
  CHECK(pathOfFlatName(schema, "rows") == "rows");
  CHECK(pathOfFlatName(schema, "peak_flops").empty());
  const Json given = {{"rows", 4}};
  CHECK(withOverrides(schema, given, {{"roofline_peak_flops", 1}, {"rows", nullptr}}) ==
        Json{{"rows", 4}, {"roofline", {{"peak_flops", 1}}}});
  CHECK(withOverrides(schema, nullptr, nullptr) == Json::object());
  CHECK(mistake([&] { withOverrides(schema, given, {{"row", 1}}); }) ==
        "there is no option \"row\"; did you mean \"rows\"?");
  CHECK(mistake([&] { withOverrides(schema, given, 3); }) ==
        "expected an object of options, not 3");
}

TEST_CASE("validators are known by name, and others are custom") {
  for (const char* name : {"any", "text", "boolean", "positive", "non_negative", "fraction",
                           "positive_integer", "non_negative_integer", "positive_table"})
    CHECK(option::kindOf(option::ofKind({name, {}})).name == name);
  const option::Kind choice = option::kindOf(option::oneOf({"a", "b"}));
  CHECK(choice.name == "one_of");
  CHECK(mistake([&] { option::ofKind(choice)("c"); }) ==
        "expected one of \"a\" or \"b\", not \"c\"");
  CHECK(option::kindOf([](const Json& value) { return value; }).name == "custom");
  CHECK(mistake([] { option::ofKind({"positiv", {}}); }) ==
        "there is no kind of option \"positiv\"; did you mean \"positive\"?");
}
