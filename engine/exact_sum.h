// A sum of doubles that is rounded once: the order of the additions cannot change a bit of it.
#pragma once

#include <array>
#include <cstdint>

#include "engine/byte_stream.h"

namespace nocturne {

// 512-bit two's-complement fixed point with its last place at 2^-256. Each addend is rounded to
// that place (far below any time, byte or operation count), so the sum is a pure function of the
// multiset of addends. Magnitudes above 2^200 and non-finite addends make the sum infinite or NaN
// for good.
class ExactSum {
public:
  void add(double value);
  // Adds value * times without rounding the product.
  void addProduct(double value, double times);
  void merge(const ExactSum& other);
  double value() const; // nearest double, ties to even
  bool isZero() const;
  // Lossless, and short for the sums that occur: three bytes and those that say something.
  void write(ByteWriter& out) const;
  static ExactSum read(ByteReader& in); // throws Error
  bool operator==(const ExactSum&) const = default;

private:
  std::array<uint64_t, 8> limbs_{}; // least significant first
  uint8_t special_ = 0;             // bit 0: +inf seen, bit 1: -inf seen, bit 2: NaN seen
};

} // namespace nocturne
