#include "engine/digest.h"

#include <unordered_set>

#include <doctest/doctest.h>

#include "engine/error.h"

using namespace nocturne;

TEST_CASE("digests are BLAKE3: the published values of the empty text and of abc") {
  CHECK(hashBytes("").hex() == "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
  CHECK(hashBytes("abc").hex() ==
        "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
}

TEST_CASE("fields are told apart by their lengths") {
  Digest first = Hasher().field("ab").field("c").finish();
  Digest second = Hasher().field("a").field("bc").finish();
  CHECK(first != second);
  CHECK(Hasher().raw("ab").raw("c").finish() == Hasher().raw("a").raw("bc").finish());
}

TEST_CASE("a field is its length in eight little-endian bytes and then its bytes") {
  std::string_view spelled("\x02\0\0\0\0\0\0\0ab", 10);
  CHECK(Hasher().field("ab").finish() == hashBytes(spelled));
  CHECK(Hasher().number(0x0102).finish() == hashBytes({"\x02\x01\0\0\0\0\0\0", 8}));
  Digest digest = hashBytes("x");
  CHECK(Hasher().field(digest).finish() == Hasher().field(digest.view()).finish());
}

TEST_CASE("a copied hasher goes its own way, and finishing changes nothing") {
  Hasher original;
  original.raw("a");
  Hasher copy = original;
  copy.raw("b");
  CHECK(original.finish() == hashBytes("a"));
  CHECK(original.finish() == hashBytes("a"));
  CHECK(copy.finish() == hashBytes("ab"));
  original = copy;
  CHECK(original.raw("c").finish() == hashBytes("abc"));
}

TEST_CASE("long inputs hash the same in one piece and in many") {
  std::string bytes;
  Hasher pieces;
  for (int i = 0; i < 50000; ++i) {
    char byte = static_cast<char>(i * 7);
    bytes += byte;
    pieces.raw({&byte, 1});
  }
  CHECK(pieces.finish() == hashBytes(bytes));
}

TEST_CASE("the hexadecimal text of a digest reads back, and nothing else does") {
  Digest digest = hashBytes("abc");
  CHECK(Digest::fromHex(digest.hex()) == digest);
  CHECK_THROWS_AS(Digest::fromHex("abcd"), Error);
  CHECK_THROWS_AS(Digest::fromHex(std::string(64, 'g')), Error);
  CHECK_THROWS_AS(Digest::fromHex(std::string(64, 'A')), Error);
}

TEST_CASE("only the default digest is zero") {
  CHECK(Digest().isZero());
  CHECK_FALSE(hashBytes("").isZero());
}

TEST_CASE("digests are keys of hash tables") {
  std::unordered_set<Digest> set = {hashBytes("a"), hashBytes("b"), hashBytes("a")};
  CHECK(set.size() == 2);
}
