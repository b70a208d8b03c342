#include "engine/json_text.h"

#include <doctest/doctest.h>

#include "plan_fixture.h"

using namespace nocturne;
using test::mistake;

namespace {

std::string mistakeIn(const std::string& text) {
  return mistake([&] { parseJsonText(text, "f.json"); });
}

bool begins(const std::string& text, const std::string& start) {
  INFO(text);
  CHECK(text.substr(0, start.size()) == start);
  return text.starts_with(start);
}

bool ends(const std::string& text, const std::string& end) {
  INFO(text);
  return text.ends_with(end);
}

} // namespace

TEST_CASE("comments are allowed and the order of keys is remembered") {
  ParsedJson parsed = parseJsonText("// a\n{\"b\": 1, /* c */ \"a\": [{\"z\": 1, \"y\": 2}]}", "f");
  CHECK(parsed.value["b"] == 1);
  CHECK(parsed.keyOrder.at("") == std::vector<std::string>{"b", "a"});
  CHECK(parsed.keyOrder.at("/a/0") == std::vector<std::string>{"z", "y"});
}

TEST_CASE("pointers of keys and elements are right behind nested values") {
  ParsedJson parsed = parseJsonText(R"([[], {"a/b": {"x": {}, "y": {"q": 1}}}, 3, {"p": 0}])", "f");
  CHECK(parsed.keyOrder.at("/1/a~1b/y") == std::vector<std::string>{"q"});
  CHECK(parsed.keyOrder.at("/3") == std::vector<std::string>{"p"});
}

TEST_CASE("a missing comma is found at the value behind it") {
  std::string text = mistakeIn("{\n  \"a\": 1\n  \"key\": 2\n}");
  CHECK(begins(text, "f.json:3:3: "));
  CHECK(ends(text, "; is a comma missing before it?"));
  text = mistakeIn("[1\n 2]");
  CHECK(begins(text, "f.json:2:2: "));
  CHECK(ends(text, "; is a comma missing before it?"));
  CHECK(begins(mistakeIn("{\"a\": 1 \"with \\\" quote\": 2}"), "f.json:1:9: "));
}

TEST_CASE("a comma too many, an open bracket and an unknown word are named") {
  std::string text = mistakeIn("{\"a\": 1,\n}");
  CHECK(begins(text, "f.json:2:1: "));
  CHECK(ends(text, "; remove the comma before it"));
  text = mistakeIn("{\"a\": [1, 2}");
  CHECK(begins(text, "f.json:1:12: "));
  text = mistakeIn("{\"a\": [1, 2\n");
  CHECK(begins(text, "f.json:2:1: "));
  CHECK(ends(text, "; a closing bracket or quote is missing"));
  CHECK(begins(mistakeIn("{\"a\": nope}"), "f.json:1:"));
  CHECK(begins(mistakeIn(""), "f.json:1:1: "));
  CHECK(begins(mistakeIn("{\"a\" 1}"), "f.json:1:6: "));
  CHECK(begins(mistakeIn("\"\x01\""), "f.json:1:2: "));
}

TEST_CASE("numbers that no double holds are named with their place") {
  CHECK(mistakeIn("[1,\n 1e999]") == "f.json:2:2: the number 1e999 is out of range");
}

TEST_CASE("a key that appears twice is a mistake") {
  CHECK(mistakeIn(R"({"a": {"x": 1, "x": 2}})") ==
        "f.json: /a/x: the key appears twice in this object");
  CHECK(mistakeIn(R"([{"x": 1}, {"x": 2}])") == "");
}

TEST_CASE("hostile nesting is refused") {
  CHECK(mistakeIn(std::string(100000, '[')).find("nested more than") != std::string::npos);
  CHECK(mistakeIn(std::string(60, '[') + std::string(60, ']')) == "");
}

TEST_CASE("a file that cannot be read is named with the reason") {
  test::ScratchDir folder;
  CHECK(mistake([&] { readJsonFile(folder.path() + "/none.json"); }) ==
        "cannot read '" + folder.path() + "/none.json': No such file or directory");
  CHECK(begins(mistake([&] { readJsonFile(folder.path()); }), "cannot read '"));
  // Neither waited for nor read for ever.
  CHECK(mistake([&] { readJsonFile("/dev/zero"); }) ==
        "cannot read '/dev/zero': it is not a regular file");
  CHECK(readJsonFile(folder.write("a.json", "{\"a\": 1} // x")) == Json({{"a", 1}}));
  CHECK(begins(mistake([&] { readJsonFile(folder.write("empty.json")); }),
               folder.path() + "/empty.json:1:1: "));
}

TEST_CASE("excerpts are short and keep characters whole") {
  CHECK(excerpt({{"a", 1.0}}) == "{\"a\":1}");
  std::string text = excerpt(std::string(58, 'x') + "\xE2\x82\xAC\xE2\x82\xAC");
  CHECK(text == '"' + std::string(58, 'x') + "...");
}
