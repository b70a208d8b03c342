#include "engine/exact_sum.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

namespace nocturne {

namespace {

__extension__ using Uint128 = unsigned __int128;
using Limbs = std::array<uint64_t, 8>;

constexpr int kFractionBits = 256; // the last place is 2^-256
constexpr int kLargestExponent = 200;
constexpr uint8_t kPlusInfinity = 1, kMinusInfinity = 2, kNan = 4;
constexpr uint8_t kSignBit = 8; // in the stored form
constexpr size_t kBytes = sizeof(Limbs);

// A finite double as mantissa * 2^exponent.
struct Parts {
  uint64_t mantissa;
  int exponent;
  bool negative;
  bool finite;
};

Parts takeApart(double value) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  int field = static_cast<int>(bits >> 52 & 0x7ff);
  uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  bool negative = bits >> 63 != 0;
  if (field == 0) // subnormal numbers have no hidden bit
    return {fraction, -1074, negative, true};
  return {fraction | uint64_t{1} << 52, field - 1075, negative, field != 0x7ff};
}

int bitWidth(Uint128 value) {
  uint64_t high = static_cast<uint64_t>(value >> 64);
  return high != 0 ? 64 + static_cast<int>(std::bit_width(high))
                   : static_cast<int>(std::bit_width(static_cast<uint64_t>(value)));
}

// magnitude / 2^shift, ties to even.
Uint128 shiftRightRounded(Uint128 magnitude, int shift) {
  if (shift > 127)
    return 0; // magnitudes have at most 106 bits: less than half of a last place
  Uint128 quotient = magnitude >> shift;
  Uint128 rest = magnitude - (quotient << shift);
  Uint128 half = Uint128{1} << (shift - 1);
  bool up = rest > half || (rest == half && (quotient & 1) != 0);
  return quotient + (up ? 1 : 0);
}

// Whether magnitude * 2^position, counted in last places, is above 2^200.
bool tooLarge(Uint128 magnitude, int position) {
  int width = bitWidth(magnitude) + position;
  constexpr int kLimit = kLargestExponent + kFractionBits + 1; // bits of 2^200 itself
  return width > kLimit || (width == kLimit && (magnitude & (magnitude - 1)) != 0);
}

// Adds or subtracts three limbs at `index`; the carry runs on to the end of the number.
void addLimbs(Limbs& limbs, size_t index, const std::array<uint64_t, 3>& addend, bool negative) {
  uint64_t carry = 0;
  for (size_t i = 0; index + i < limbs.size(); ++i) {
    uint64_t part = i < addend.size() ? addend[i] : 0;
    if (i >= addend.size() && carry == 0)
      return;
    uint64_t& limb = limbs[index + i];
    Uint128 next = negative ? Uint128{limb} - part - carry : Uint128{limb} + part + carry;
    limb = static_cast<uint64_t>(next);
    carry = static_cast<uint64_t>(next >> 64) & 1;
  }
}

// Adds magnitude * 2^position last places.
void addMagnitude(Limbs& limbs, uint8_t& special, Uint128 magnitude, int position, bool negative) {
  if (magnitude == 0)
    return;
  if (tooLarge(magnitude, position)) {
    special |= negative ? kMinusInfinity : kPlusInfinity;
    return;
  }
  if (position < 0) {
    magnitude = shiftRightRounded(magnitude, -position);
    position = 0;
  }
  int shift = position % 64;
  Uint128 low = magnitude << shift;
  uint64_t over = shift == 0 ? 0 : static_cast<uint64_t>(magnitude >> (128 - shift));
  addLimbs(limbs, static_cast<size_t>(position) / 64,
           {static_cast<uint64_t>(low), static_cast<uint64_t>(low >> 64), over}, negative);
}

uint8_t specialOf(double value) {
  if (value != value)
    return kNan;
  return value < 0 ? kMinusInfinity : kPlusInfinity;
}

Limbs negated(const Limbs& limbs) {
  Limbs out{};
  uint64_t carry = 1;
  for (size_t i = 0; i < limbs.size(); ++i) {
    out[i] = ~limbs[i] + carry;
    carry = carry != 0 && out[i] == 0 ? 1 : 0;
  }
  return out;
}

bool anyBelow(const Limbs& limbs, size_t index) {
  return std::any_of(limbs.begin(), limbs.begin() + static_cast<ptrdiff_t>(index),
                     [](uint64_t limb) { return limb != 0; });
}

// The nearest double of a number that is not zero, taken as unsigned.
double roundedMagnitude(const Limbs& limbs) {
  size_t index = limbs.size() - 1;
  while (limbs[index] == 0)
    --index;
  int shift = std::countl_zero(limbs[index]);
  uint64_t below = index > 0 ? limbs[index - 1] : 0;
  // The 64 bits from the highest one on, and whether any follows.
  uint64_t leading = shift == 0 ? limbs[index] : limbs[index] << shift | below >> (64 - shift);
  bool more = below << shift != 0 || (index > 1 && anyBelow(limbs, index - 1));
  uint64_t mantissa = leading >> 11;
  uint64_t rest = leading & 0x7ff;
  if (rest > 0x400 || (rest == 0x400 && (more || (mantissa & 1) != 0)))
    ++mantissa;
  // Adding (rather than or-ing) lets a mantissa that was rounded up to 2^53 raise the exponent.
  int top = static_cast<int>(index) * 64 + 63 - shift;
  uint64_t exponent = static_cast<uint64_t>(top - kFractionBits + 1022);
  return std::bit_cast<double>((exponent << 52) + mantissa);
}

} // namespace

void ExactSum::add(double value) {
  Parts parts = takeApart(value);
  if (!parts.finite) {
    special_ |= specialOf(value);
    return;
  }
  addMagnitude(limbs_, special_, parts.mantissa, parts.exponent + kFractionBits, parts.negative);
}

void ExactSum::addProduct(double value, double times) {
  Parts a = takeApart(value), b = takeApart(times);
  if (!a.finite || !b.finite) {
    special_ |= specialOf(value * times);
    return;
  }
  addMagnitude(limbs_, special_, Uint128{a.mantissa} * b.mantissa,
               a.exponent + b.exponent + kFractionBits, a.negative != b.negative);
}

void ExactSum::merge(const ExactSum& other) {
  uint64_t carry = 0;
  for (size_t i = 0; i < limbs_.size(); ++i) {
    Uint128 next = Uint128{limbs_[i]} + other.limbs_[i] + carry;
    limbs_[i] = static_cast<uint64_t>(next);
    carry = static_cast<uint64_t>(next >> 64);
  }
  special_ |= other.special_;
}

double ExactSum::value() const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr uint8_t kBoth = kPlusInfinity | kMinusInfinity;
  if ((special_ & kNan) != 0 || (special_ & kBoth) == kBoth)
    return std::numeric_limits<double>::quiet_NaN();
  if (special_ != 0)
    return special_ == kPlusInfinity ? kInfinity : -kInfinity;
  if (isZero())
    return 0;
  bool negative = limbs_.back() >> 63 != 0;
  return negative ? -roundedMagnitude(negated(limbs_)) : roundedMagnitude(limbs_);
}

bool ExactSum::isZero() const {
  return *this == ExactSum();
}

// The byte of `special_` with the sign in bit 3, the number of low bytes that are zero, the number
// of bytes that follow, and those; all above them repeat the sign.
void ExactSum::write(ByteWriter& out) const {
  const bool negative = limbs_.back() >> 63 != 0;
  const uint8_t fill = negative ? 0xff : 0;
  const auto byteAt = [this](size_t i) {
    return static_cast<uint8_t>(limbs_[i / 8] >> (8 * (i % 8)));
  };
  size_t low = 0, end = kBytes;
  while (low < kBytes && byteAt(low) == 0)
    ++low;
  while (end > low && byteAt(end - 1) == fill)
    --end;
  out.byte(static_cast<uint8_t>(special_ | (negative ? kSignBit : 0)));
  out.byte(static_cast<uint8_t>(low));
  out.byte(static_cast<uint8_t>(end - low));
  for (size_t i = low; i < end; ++i)
    out.byte(byteAt(i));
}

ExactSum ExactSum::read(ByteReader& in) {
  const uint8_t head = in.byte();
  const size_t low = in.byte(), count = in.byte();
  if (head >= 2 * kSignBit || low + count > kBytes)
    ByteReader::fail("they are no exact sum");
  ExactSum sum;
  sum.special_ = head & (kSignBit - 1);
  const auto set = [&sum](size_t i, uint8_t byte) {
    sum.limbs_[i / 8] |= uint64_t{byte} << (8 * (i % 8));
  };
  for (size_t i = low; i < low + count; ++i)
    set(i, in.byte());
  for (size_t i = low + count; i < kBytes && (head & kSignBit) != 0; ++i)
    set(i, 0xff);
  return sum;
}

} // namespace nocturne
