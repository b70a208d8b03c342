// An exact sum, the same as ExactSum's, but several times quicker for addends of ordinary size.
#pragma once

#include <bit>
#include <cstdint>

#include "engine/exact_sum.h"

namespace nocturne {

// A 128-bit integer in units of 2^-FractionBits takes every addend that fits it without rounding;
// an ExactSum takes the rest.
template <int FractionBits>
class FastSum {
public:
  void addProduct(double value, double times);
  void merge(const FastSum& other);
  ExactSum exact() const;
  double value() const { return exact().value(); }
  bool isZero() const { return small_ == 0 && (!anyBig_ || exact().isZero()); }

private:
  __extension__ using Int128 = __int128;
  __extension__ using Uint128 = unsigned __int128;
  static constexpr Int128 kLimit = Int128{1} << 125;

  // Hands the integer over before it can overflow.
  void settle() {
    if (small_ >= kLimit || small_ <= -kLimit)
      flush();
  }
  void flush();
  static void addTo(ExactSum& sum, Int128 amount);

  Int128 small_ = 0;
  ExactSum big_;
  bool anyBig_ = false;
};

template <int FractionBits>
inline void FastSum<FractionBits>::addProduct(double value, double times) {
  constexpr uint64_t kFraction = (uint64_t{1} << 52) - 1, kHidden = uint64_t{1} << 52;
  uint64_t left = std::bit_cast<uint64_t>(value), right = std::bit_cast<uint64_t>(times);
  int leftField = static_cast<int>(left >> 52 & 0x7ff);
  int rightField = static_cast<int>(right >> 52 & 0x7ff);
  Uint128 product = Uint128{(left & kFraction) | kHidden} * ((right & kFraction) | kHidden);
  // The product has 105 or 106 bits; its last one stands for 2^(leftField + rightField - 2150).
  int shift = leftField + rightField - 2150 + FractionBits;
  bool ordinary = leftField != 0 && leftField != 0x7ff && rightField != 0 && rightField != 0x7ff;
  bool fits = shift >= 0 ? shift <= 125 - 106
                         : shift > -106 && (product & ((Uint128{1} << -shift) - 1)) == 0;
  if (!ordinary || !fits) {
    big_.addProduct(value, times);
    anyBig_ = true;
    return;
  }
  auto amount = static_cast<Int128>(shift >= 0 ? product << shift : product >> -shift);
  small_ += ((left ^ right) >> 63) != 0 ? -amount : amount;
  settle();
}

template <int FractionBits>
inline void FastSum<FractionBits>::merge(const FastSum& other) {
  small_ += other.small_;
  settle();
  if (!other.anyBig_)
    return;
  big_.merge(other.big_);
  anyBig_ = true;
}

template <int FractionBits>
inline ExactSum FastSum<FractionBits>::exact() const {
  ExactSum sum = big_;
  addTo(sum, small_);
  return sum;
}

template <int FractionBits>
inline void FastSum<FractionBits>::flush() {
  addTo(big_, small_);
  small_ = 0;
  anyBig_ = true;
}

template <int FractionBits>
inline void FastSum<FractionBits>::addTo(ExactSum& sum, Int128 amount) {
  constexpr double kSign[] = {1.0, -1.0};
  double sign = kSign[amount < 0];
  Uint128 magnitude = amount < 0 ? -static_cast<Uint128>(amount) : static_cast<Uint128>(amount);
  // Pieces of 32 bits, each of which a double holds.
  double unit = std::bit_cast<double>(static_cast<uint64_t>(1023 - FractionBits) << 52);
  for (; magnitude != 0; magnitude >>= 32, unit *= 4294967296.0)
    if (auto piece = static_cast<uint32_t>(magnitude))
      sum.addProduct(sign * piece, unit);
}

// Seconds down to 2^-112, up to hours; counts and bytes up to 2^61 with fractions down to 2^-64.
using TimeSum = FastSum<112>;
using AmountSum = FastSum<64>;

} // namespace nocturne
