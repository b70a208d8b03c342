#include "estimators/fast_sum.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

using namespace nocturne;

namespace {

template <int FractionBits>
void compareWithExact(const std::vector<std::pair<double, double>>& products) {
  FastSum<FractionBits> fast, left, right;
  ExactSum exact;
  for (const auto& [value, times] : products) {
    fast.addProduct(value, times);
    (products.size() % 2 == 0 ? left : right).addProduct(value, times);
    exact.addProduct(value, times);
    REQUIRE(fast.exact() == exact);
    REQUIRE(fast.isZero() == exact.isZero());
  }
  left.merge(right);
  CHECK(left.exact() == exact);
}

} // namespace

TEST_CASE("a fast sum is the exact sum, bit by bit") {
  std::mt19937_64 random(7);
  for (int spread : {4, 40, 100, 400}) {
    std::vector<std::pair<double, double>> products;
    for (int i = 0; i < 2000; ++i) {
      auto number = [&] {
        int exponent = static_cast<int>(random() % static_cast<unsigned>(2 * spread)) - spread;
        auto mantissa = static_cast<double>(random() % (uint64_t{1} << 53));
        double sign = random() % 4 == 0 ? -1 : 1;
        return sign * mantissa * std::bit_cast<double>(uint64_t(1023 + exponent - 53) << 52);
      };
      products.emplace_back(number(), i % 3 == 0 ? 1.0 : number());
    }
    compareWithExact<112>(products);
    compareWithExact<64>(products);
  }
}

TEST_CASE("a fast sum stays exact at the ends of the range") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<std::pair<double, double>> products = {
      {0.0, 5.0},   {-0.0, 1.0},   {5e-324, 1.0}, {1e-320, 1e300},
      {1e18, 1e18}, {-1e18, 1e18}, {1.0, 1e19},   {9007199254740993.0, 1024.0}};
  compareWithExact<112>(products);
  compareWithExact<64>(products);
  std::vector<std::pair<double, double>> many(3000, {9e18, 1.0});
  compareWithExact<64>(many);
  FastSum<64> sum;
  sum.addProduct(kInfinity, 1);
  CHECK(sum.value() == kInfinity);
}
