// Little-endian binary forms: LEB128 numbers, length-prefixed strings, and a reader that trusts
// nothing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/digest.h"
#include "engine/error.h"

namespace nocturne {

// Appends to a string that the caller owns.
class ByteWriter {
public:
  explicit ByteWriter(std::string& out) : out_(out) {}
  void byte(uint8_t value) { out_ += static_cast<char>(value); }
  void number(uint64_t value) { // 7 bits a byte, least significant first
    while (value >= 0x80) {
      byte(static_cast<uint8_t>(value | 0x80));
      value >>= 7;
    }
    byte(static_cast<uint8_t>(value));
  }
  void signedNumber(int64_t value) { // zigzag: small magnitudes stay short
    number(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
  }
  void real(double value); // eight bytes
  void text(std::string_view bytes);
  void digest(const Digest& value) { out_ += value.view(); }

private:
  std::string& out_;
};

// Every function throws Error when the bytes end too early or do not spell what is asked for.
class ByteReader {
public:
  explicit ByteReader(std::string_view bytes) : next_(bytes.data()), end_(next_ + bytes.size()) {}
  size_t remaining() const { return static_cast<size_t>(end_ - next_); }
  uint8_t byte() {
    if (next_ == end_)
      failShort();
    return static_cast<uint8_t>(*next_++);
  }
  uint64_t number() {
    uint8_t first = byte();
    if (first < 0x80)
      return first;
    // Nearly all other numbers have two bytes.
    if (next_ != end_ && static_cast<uint8_t>(*next_) < 0x80)
      return (first & 0x7f) | uint64_t{static_cast<uint8_t>(*next_++)} << 7;
    return longNumber(first);
  }
  int64_t signedNumber() {
    uint64_t value = number();
    return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
  }
  // A number that fits into the type.
  template <typename T>
  T small() {
    uint64_t value = number();
    if (value > T(~T{0}))
      fail("a number is too large");
    return static_cast<T>(value);
  }
  // How many items follow. Each takes `least` bytes or more, so a lie cannot make the caller
  // allocate much more than the input is long.
  size_t count(size_t least = 1) {
    uint64_t value = number();
    if (value > remaining() / least)
      failShort();
    return static_cast<size_t>(value);
  }
  double real();
  bool flag();
  std::string_view text();
  std::string_view raw(size_t size);
  Digest digest();
  void expectEnd() const;
  [[noreturn]] static void fail(const char* what);

private:
  [[noreturn]] static void failShort();
  uint64_t longNumber(uint8_t first);

  const char* next_;
  const char* end_;
};

} // namespace nocturne
