#include <doctest/doctest.h>

#include "compiler/reader/scan.h"

using namespace nocturne;
using namespace nocturne::compiler;

namespace {

std::optional<Failure> scan(std::string text) {
  return scanText(text, "a.mlir");
}

std::string scanned(std::string text) {
  CHECK_FALSE(scanText(text, "a.mlir").has_value());
  return text;
}

} // namespace

TEST_CASE("the scan counts lines and columns from one") {
  CHECK(positionAt("ab\ncd", 0).line == 1);
  CHECK(positionAt("ab\ncd", 0).column == 1);
  CHECK(positionAt("ab\ncd", 4).line == 2);
  CHECK(positionAt("ab\ncd", 4).column == 2);
}

TEST_CASE("the scan allows 256 nested brackets and refuses the 257th where it opens") {
  CHECK_FALSE(scan(std::string(256, '(') + std::string(256, ')')));
  std::optional<Failure> failure = scan("\n" + std::string(257, '{'));
  REQUIRE(failure);
  CHECK((failure->kind == FailureKind::Unreadable));
  CHECK(failure->file == "a.mlir");
  CHECK(failure->line == 2);
  CHECK(failure->column == 257);
}

TEST_CASE("the scan does not count brackets in strings and comments") {
  std::string many(300, '(');
  CHECK_FALSE(scan("\"" + many + "\" // " + many + "\n"));
  CHECK_FALSE(scan("\"a \\\" " + many + "\""));
  CHECK(scan("\"a\" " + many));
  CHECK(scan("\"a \\\\\" " + many));
}

TEST_CASE("the scan takes an angle bracket for an operator where no closer follows") {
  std::string line = "{ x < y }\n{ a -> b }\n{ c >= d }\n";
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += line;
  CHECK_FALSE(scan(text));
}

TEST_CASE("the scan refuses deep angle brackets") {
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += "complex<";
  CHECK(scan(text));
}

TEST_CASE("the scan refuses tensors of a rank that no framework writes") {
  const auto tensor = [](int rank) {
    std::string text = "tensor<";
    for (int i = 0; i < rank; ++i)
      text += "1x";
    return text + "f32>";
  };
  CHECK_FALSE(scan(tensor(1024)));
  const std::optional<Failure> failure = scan("  " + tensor(1025));
  REQUIRE(failure);
  CHECK(failure->message == "this tensor has more than 1024 dimensions");
  CHECK(failure->column == 9);
}

TEST_CASE("the scan refuses arrays whose parser would not look at their type") {
  CHECK_FALSE(scan("{a = array<i64: 1, 2>, b = array<f32>}"));
  for (const char* bad : {"{a = array<index: 2>}", "{a = array<index>}", "{a = array< !t: 2>}"}) {
    const std::optional<Failure> failure = scan(bad);
    REQUIRE(failure);
    CHECK(failure->message == "an array has elements of an integer or float type");
  }
}

TEST_CASE("the scan refuses numbers of results that would fill the memory") {
  CHECK_FALSE(scan("%0:2 = \"f\"() : () -> (i1, i1) \"g\"(%0#1, %0#999999)"));
  const std::optional<Failure> failure = scan("\"g\"(%0#2147483647)");
  REQUIRE(failure);
  CHECK(failure->column == 7);
}

TEST_CASE("the scan refuses aliases that spell out types without end") {
  const auto bomb = [](int levels) {
    std::string text = "!t0 = f32\n";
    for (int i = 1; i <= levels; ++i) {
      const std::string last = "!t" + std::to_string(i - 1);
      text += "!t" + std::to_string(i) + " = tuple<" + last + ", " + last + ">\n";
    }
    return text;
  };
  CHECK_FALSE(scan(bomb(18))); // 2^19 - 1 parts
  const std::optional<Failure> failure = scan(bomb(40));
  REQUIRE(failure);
  CHECK(failure->message == "this alias has more than a million parts");
  CHECK(failure->line == 20); // 2^20 - 1 parts
  CHECK_FALSE(scan("#loc0 = loc(unknown)\n#loc1 = loc(fused[#loc0, #loc0])\n"));
}

TEST_CASE("the scan refuses affine expressions whose parser would recurse too deep") {
  std::string sum = "affine_map<(d0) -> (d0";
  for (int i = 0; i < 2000; ++i)
    sum += " + 1";
  CHECK(scan(sum + ")>"));
  CHECK_FALSE(scan("affine_map<(d0) -> (d0 + 1)> " + std::string(2000, '+')));
}

TEST_CASE("the scan names an unterminated string where it starts") {
  std::optional<Failure> failure = scan("a\n b \"never closed\n\"");
  REQUIRE(failure);
  CHECK(failure->line == 2);
  CHECK(failure->column == 4);
  CHECK(scan("\""));
  CHECK(scan("\"\\\""));
}

TEST_CASE("the scan refuses an empty file, zero bytes and control characters") {
  CHECK(scan("")->message == "the file is empty");
  CHECK(scan(std::string("a\0b", 3))->message == "not MLIR text: a zero byte");
  CHECK(scan(std::string("a\0b", 3))->column == 2);
  CHECK(scan("a\x01")->message == "not MLIR text: byte 0x01");
}

TEST_CASE("the scan knows bytecode and names the producer of a portable artifact") {
  CHECK(scan("ML\xefR\x01plain")->message.find("bytecode") != std::string::npos);
  std::string artifact("ML\xefR\x06StableHLO_v1.8.0\0more", 26);
  CHECK(scan(artifact)->message.find("StableHLO_v1.8.0") != std::string::npos);
}

TEST_CASE("booleans of one byte each become packed bits without moving anything") {
  // 1 0 1 1 0 0 0 0 | 1: least significant bit first.
  std::string before = "dense<\"0x010001010000000001\"> : tensor<9xi1> // end";
  std::string after = scanned(before);
  CHECK(after == "dense<\"0x0D01\"              > : tensor<9xi1> // end");
  CHECK(after.size() == before.size());
}

TEST_CASE("packed booleans, other types and other strings stay as they are") {
  for (const char* text :
       {"dense<\"0x0D01\"> : tensor<9xi1>", "dense<\"0x01000101\"> : tensor<4xi8>",
        "dense<\"0x0100\"> : tensor<4xi1>", "foo<\"0x0100\"> : tensor<2xi1>",
        "dense<\"0x010\"> : tensor<3xi1>", "dense<\"0x01zz\"> : tensor<2xi1>",
        "dense<\"0x0100\"> : tensor<99999999999999999999x2xi1>", "dense<\"0x0100\">",
        "dense<\"0x0100\"> : tensor<2xi16>"})
    CHECK(scanned(text) == text);
}

TEST_CASE("booleans of one byte each are found for any rank, and a single one is a splat") {
  CHECK(scanned("dense<\"0x01000100\">:tensor<2x2xi1>") == "dense<\"0x05\"      >:tensor<2x2xi1>");
  CHECK(scanned("dense<\"0x01\"> : tensor<i1>") == "dense<\"0xFF\"> : tensor<i1>");
  CHECK(scanned("dense<\"0xFF00\"> : vector<2xi1>") == "dense<\"0x01\"  > : vector<2xi1>");
}
