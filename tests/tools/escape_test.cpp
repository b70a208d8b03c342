#include "tools/report/escape.h"

#include <limits>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace nocturne::tools;

namespace {

std::string csv(std::string_view text) {
  std::string out;
  appendCsv(out, text);
  return out;
}

std::string jsonText(std::string_view text) {
  std::string out;
  appendJsonText(out, text);
  return out;
}

} // namespace

TEST_CASE("a CSV field is quoted only where RFC 4180 wants it") {
  CHECK(csv("plain text; with = signs") == "plain text; with = signs");
  CHECK(csv("") == "");
  CHECK(csv("a,b") == "\"a,b\"");
  CHECK(csv("say \"x\"") == "\"say \"\"x\"\"\"");
  CHECK(csv("two\nlines") == "\"two\nlines\"");
}

TEST_CASE("JSON text reads back as it was") {
  const std::string texts[] = {
      "", "plain", "tab\tquote\"slash\\", "line\nreturn\r", std::string("\0\x01\x1f", 3), "µ € 𝄞"};
  for (const std::string& text : texts)
    CHECK(nlohmann::json::parse(jsonText(text)).get<std::string>() == text);
}

TEST_CASE("bytes that are no UTF-8 are replaced one by one") {
  CHECK(csv("a\xFFz,\xE2\x82") == "\"a\uFFFDz,\uFFFD\uFFFD\"");
  CHECK(jsonText("a\xFFz") == "\"a\uFFFDz\"");
  CHECK(jsonText("\xC0\xAF") == "\"\uFFFD\uFFFD\"");           // overlong
  CHECK(jsonText("\xED\xA0\x80") == "\"\uFFFD\uFFFD\uFFFD\""); // surrogate
  CHECK(jsonText("\xE2\x82") == "\"\uFFFD\uFFFD\"");           // cut off
  CHECK_NOTHROW(nlohmann::json::parse(jsonText("\xF4\x90\x80\x80")));
}

TEST_CASE("numbers that JSON cannot say are null") {
  std::string out;
  appendJsonNumber(out, std::numeric_limits<double>::infinity());
  out += ' ';
  appendJsonNumber(out, 1.5e-5);
  out += ' ';
  appendJsonNumber(out, std::optional<double>());
  CHECK(out == "null 1.5e-05 null");
}

TEST_CASE("an axis value has no quotes in a table") {
  CHECK(plainText("weight_stationary") == "weight_stationary");
  CHECK(plainText(1.5e12) == "1500000000000");
  CHECK(plainText(true) == "true");
}
