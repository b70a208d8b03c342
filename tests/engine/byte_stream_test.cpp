#include "engine/byte_stream.h"

#include <limits>

#include <doctest/doctest.h>

using namespace nocturne;

TEST_CASE("numbers take seven bits a byte, least significant first") {
  std::string bytes;
  ByteWriter out(bytes);
  out.number(300); // 0b10'0101100
  CHECK(bytes == "\xAC\x02");
  bytes.clear();
  out.signedNumber(-1);
  out.signedNumber(1);
  CHECK(bytes == "\x01\x02");
}

TEST_CASE("everything written reads back") {
  std::string bytes;
  ByteWriter out(bytes);
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  Digest digest = hashBytes("x");
  out.number(kMost);
  out.signedNumber(kLeast);
  out.signedNumber(-(kLeast + 1));
  out.real(-0.1);
  out.text("ab");
  out.digest(digest);
  out.byte(1);
  ByteReader in(bytes);
  CHECK(in.number() == kMost);
  CHECK(in.signedNumber() == kLeast);
  CHECK(in.signedNumber() == -(kLeast + 1));
  CHECK(in.real() == -0.1);
  CHECK(in.text() == "ab");
  CHECK(in.digest() == digest);
  CHECK(in.flag());
  CHECK_NOTHROW(in.expectEnd());
}

TEST_CASE("reading past the end throws") {
  CHECK_THROWS_AS(ByteReader("").byte(), Error);
  CHECK_THROWS_AS(ByteReader("\x80").number(), Error);
  CHECK_THROWS_AS(ByteReader("1234567").real(), Error);
  CHECK_THROWS_AS(ByteReader("\x03"
                             "ab")
                      .text(),
                  Error);
  CHECK_THROWS_AS(ByteReader("short").digest(), Error);
}

TEST_CASE("numbers that do not fit are refused") {
  CHECK_THROWS_AS(ByteReader(std::string(9, '\xff') + "\x02").number(), Error);
  CHECK_THROWS_AS(ByteReader(std::string(11, '\x80')).number(), Error);
  CHECK_THROWS_AS(ByteReader("\x80\x80\x04").small<uint16_t>(), Error); // 65536
  CHECK(ByteReader("\xff\xff\x03").small<uint16_t>() == 65535);
}

TEST_CASE("a count beyond the bytes that are left is refused") {
  CHECK(ByteReader("\x02xx").count() == 2);
  CHECK_THROWS_AS(ByteReader("\x03xx").count(), Error);
  CHECK_THROWS_AS(ByteReader("\x02xxx").count(2), Error);
}

TEST_CASE("a flag is 0 or 1, and nothing may follow the end") {
  CHECK_THROWS_AS(ByteReader("\x02").flag(), Error);
  CHECK_THROWS_AS(ByteReader("x").expectEnd(), Error);
}
