#include "engine/exact_sum.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "engine/error.h"

using namespace nocturne;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double sumOf(const std::vector<double>& addends) {
  ExactSum sum;
  for (double addend : addends)
    sum.add(addend);
  return sum.value();
}

ExactSum product(double value, double times) {
  ExactSum sum;
  sum.addProduct(value, times);
  return sum;
}

std::string stored(const ExactSum& sum) {
  std::string bytes;
  ByteWriter out(bytes);
  sum.write(out);
  return bytes;
}

ExactSum readBack(const std::string& bytes) {
  ByteReader in(bytes);
  return ExactSum::read(in);
}

} // namespace

TEST_CASE("nothing added is zero") {
  CHECK(ExactSum().value() == 0);
  CHECK(ExactSum().isZero());
  CHECK(std::bit_cast<uint64_t>(sumOf({-0.0})) == 0);
}

TEST_CASE("one addend comes back as it was") {
  for (double value : {1.0, -1.0, 0.1, -0.1, 3.5e-12, 1e60, -1e60, 0x1p-256, 0x1.fffffffffffffp199,
                       0x1p200, -0x1p200, 0x1.fffffffffffffp63, 0x1p64})
    CHECK(sumOf({value}) == value);
}

TEST_CASE("small addends survive between large ones") {
  CHECK(sumOf({1e16, 1, -1e16}) == 1);
  CHECK(sumOf({0x1p199, 0x1p-256, -0x1p199}) == 0x1p-256);
}

TEST_CASE("ten times the double 0.1 is rounded once") {
  // 0.1 is 7205759403792794 * 2^-56; ten of it are 1 + 2^-54, and 1 is the nearest double. Adding
  // doubles one by one gives 0.9999999999999999.
  CHECK(sumOf(std::vector<double>(10, 0.1)) == 1.0);
  ExactSum rest;
  for (int i = 0; i < 10; ++i)
    rest.add(0.1);
  rest.add(-1);
  CHECK(rest.value() == 0x1p-54);
}

TEST_CASE("a product is added without rounding") {
  // 3 * 7205759403792794 = 21617278211378382, of 55 bits: a tie, whose even neighbour is
  // 21617278211378384 * 2^-56 = 0.30000000000000004.
  ExactSum sum = product(0.1, 3);
  CHECK(sum.value() == 0.30000000000000004);
  sum.add(-0.30000000000000004);
  CHECK(sum.value() == -0x1p-55);
}

TEST_CASE("a product of two full mantissas keeps all its 106 bits") {
  // (1 + 2^-52)^2 = 1 + 2^-51 + 2^-104.
  double next = 1 + 0x1p-52;
  ExactSum sum = product(next, next);
  sum.add(-1);
  sum.add(-0x1p-51);
  CHECK(sum.value() == 0x1p-104);
  sum.addProduct(-0x1p-52, 0x1p-52);
  CHECK(sum.isZero());
}

TEST_CASE("the signs of a product's factors multiply") {
  CHECK(product(-2, 3).value() == -6);
  CHECK(product(2, -3).value() == -6);
  CHECK(product(-2, -3).value() == 6);
  CHECK(product(0, 5).isZero());
}

TEST_CASE("the order of the addends does not change a bit") {
  std::vector<double> addends = {1e16, -1e-9, 3.14, -1e16, 0x1p-200, 7e30, -7e30};
  std::sort(addends.begin(), addends.end());
  ExactSum first;
  for (double addend : addends)
    first.add(addend);
  int permutations = 0;
  do {
    ExactSum other;
    for (double addend : addends)
      other.add(addend);
    if (other != first || other.value() != first.value())
      FAIL("another sum");
    ++permutations;
  } while (std::next_permutation(addends.begin(), addends.end()));
  CHECK(permutations == 5040);
}

TEST_CASE("the value is the nearest double, ties to even") {
  CHECK(sumOf({0x1p53, 1}) == 0x1p53);               // tie, 2^53 is even
  CHECK(sumOf({0x1p53, 3}) == 0x1p53 + 4);           // tie, 2^53 + 2 is odd
  CHECK(sumOf({0x1p53, 1, 0x1p-256}) == 0x1p53 + 2); // just above the tie
  CHECK(sumOf({0x1p53, 1, -0x1p-256}) == 0x1p53);    // just below
  CHECK(sumOf({0x1p53 - 1, 0.5}) == 0x1p53);         // rounding up to the next power of two
  CHECK(sumOf({-0x1p53, -3}) == -0x1p53 - 4);
  CHECK(sumOf({-0x1p53, -1, -0x1p-256}) == -0x1p53 - 2);
}

TEST_CASE("addends are rounded to the last place, ties to even") {
  CHECK(sumOf({0x1p-257}) == 0);          // half a last place
  CHECK(sumOf({0x1.8p-257}) == 0x1p-256); // three quarters
  CHECK(sumOf({0x1.8p-256}) == 0x1p-255); // one and a half: 2 is even
  CHECK(sumOf({0x1.4p-255}) == 0x1p-255); // two and a half: 2 is even
  CHECK(sumOf({-0x1.8p-256}) == -0x1p-255);
  CHECK(sumOf({0x1p-300}) == 0);
  CHECK(sumOf({std::numeric_limits<double>::denorm_min()}) == 0);
  CHECK(product(0x1.8p-200, 0x1p-56).value() == 0x1p-255);
  CHECK(product(1e-300, 1e-300).isZero());
}

TEST_CASE("sums below zero and back") {
  ExactSum sum;
  sum.add(-5);
  CHECK(sum.value() == -5);
  sum.add(2.5);
  CHECK(sum.value() == -2.5);
  sum.add(2.5);
  CHECK(sum.isZero());
  sum.add(0.25);
  CHECK(sum.value() == 0.25);
}

TEST_CASE("merging is adding, and is associative") {
  std::vector<std::vector<double>> parts = {{1e20, -3}, {0.1, 0.2, 0.3}, {-1e20, 1e-30}};
  std::vector<ExactSum> sums(3);
  ExactSum all;
  for (size_t i = 0; i < parts.size(); ++i)
    for (double addend : parts[i]) {
      sums[i].add(addend);
      all.add(addend);
    }
  ExactSum left = sums[0];
  left.merge(sums[1]);
  left.merge(sums[2]);
  ExactSum right = sums[2], tail = sums[1];
  tail.merge(right);
  right = sums[0];
  right.merge(tail);
  CHECK(left == all);
  CHECK(right == all);
}

TEST_CASE("magnitudes above 2^200 are infinite for good") {
  double above = 0x1.0000000000001p200;
  CHECK(sumOf({above}) == kInfinity);
  CHECK(sumOf({above, -1e30}) == kInfinity);
  CHECK(sumOf({-above}) == -kInfinity);
  double both = sumOf({above, -above});
  CHECK(both != both);
  CHECK(product(1e100, 1e100).value() == kInfinity);
  CHECK(product(-1e300, 1e300).value() == -kInfinity);
  CHECK(product(0x1p150, 0x1p50).value() == 0x1p200);
}

TEST_CASE("infinities and NaN stay") {
  double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(sumOf({kInfinity, 1}) == kInfinity);
  CHECK(sumOf({-kInfinity, 1}) == -kInfinity);
  double sum = sumOf({nan, 1});
  CHECK(sum != sum);
  double zeroTimesInfinity = product(0, kInfinity).value();
  CHECK(zeroTimesInfinity != zeroTimesInfinity);
  CHECK(product(kInfinity, -2).value() == -kInfinity);
  ExactSum infinite;
  infinite.add(kInfinity);
  CHECK_FALSE(infinite.isZero());
  ExactSum merged;
  merged.merge(infinite);
  CHECK(merged.value() == kInfinity);
}

TEST_CASE("a sum of a million equal addends is exact") {
  ExactSum sum, times;
  for (int i = 0; i < 1000000; ++i)
    sum.add(1e-6);
  times.addProduct(1e-6, 1000000);
  CHECK(sum == times);
}

TEST_CASE("a stored sum is short, and reads back") {
  ExactSum one;
  one.add(1);
  // No flags; 256 bits, so 32 bytes, lie below the one; the byte itself.
  CHECK(stored(one) == std::string{0, 32, 1, 1});
  CHECK(stored(ExactSum()) == std::string{0, 64, 0});
  ExactSum smallest;
  smallest.add(-0x1p-256);
  CHECK(stored(smallest) == std::string{8, 0, 0}); // nothing but sign
  for (double value : {0.0, 1.0, -0.1, -256.0, 1e60, -1e60, kInfinity, -kInfinity})
    for (double least : {0.0, 0x1p-256, -0x1p-256}) {
      ExactSum sum;
      sum.add(value);
      sum.add(least);
      CHECK((readBack(stored(sum)) == sum));
    }
}

TEST_CASE("bytes that are no sum are refused") {
  for (const std::string& bad : {std::string(), std::string{0, 1}, std::string{0, 1, 1},
                                 std::string{16, 0, 0}, std::string{0, 60, 5, 1, 1, 1, 1, 1}}) {
    CAPTURE(bad.size());
    CHECK_THROWS_AS(readBack(bad), Error);
  }
}
