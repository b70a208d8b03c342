#include "engine/number_text.h"

#include <limits>

#include <doctest/doctest.h>

using namespace nocturne;

TEST_CASE("whole numbers are written as integers") {
  CHECK(shortest(0) == "0");
  CHECK(shortest(-0.0) == "0");
  CHECK(shortest(1.0) == "1");
  CHECK(shortest(-42) == "-42");
  CHECK(shortest(1e15) == "1000000000000000");
  CHECK(shortest(3.35e12) == "3350000000000");
  CHECK(shortest(0x1p62) == "4611686018427387904");
  CHECK(shortest(-0x1p62) == "-4611686018427387904");
}

TEST_CASE("other numbers are as short as reads back") {
  CHECK(shortest(0.1) == "0.1");
  CHECK(shortest(0.30000000000000004) == "0.30000000000000004");
  CHECK(shortest(1.5e-7) == "1.5e-07");
  CHECK(shortest(0x1p63) == "9223372036854775808");
  CHECK(shortest(1e300) == "1e+300");
}

TEST_CASE("one of a thing is counted without an s") {
  CHECK(counted(0, "input") == "0 inputs");
  CHECK(counted(1, "input") == "1 input");
  CHECK(counted(2, "input") == "2 inputs");
}

TEST_CASE("what is no finite number has a text too") {
  CHECK(shortest(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(shortest(-std::numeric_limits<double>::infinity()) == "-inf");
  CHECK(shortest(std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(shortest(-std::numeric_limits<double>::quiet_NaN()) == "nan");
}

TEST_CASE("numbers read back to the same bits") {
  for (double value : {0.1, 1.0 / 3, 1e-300, 5e-324, 1.7976931348623157e308, 123456.789, -2.5,
                       9007199254740993.0, 0x1p63})
    CHECK(parseNumber(shortest(value)) == value);
}

TEST_CASE("only a text that is a number from end to end is one") {
  CHECK(parseNumber("2e3") == 2000.0);
  CHECK(parseNumber("-.5") == -0.5);
  for (const char* text :
       {"", " 1", "1 ", "1x", "+1", "0x10", "1,5", "inf", "nan", "-inf", "1e999", "--1", "e5"})
    CHECK_MESSAGE(!parseNumber(text), text);
}

TEST_CASE("a number is appended to what is there") {
  std::string out = "x=";
  appendShortest(out, 2.5);
  CHECK(out == "x=2.5");
}
