#include "engine/byte_stream.h"

#include <cstring>

namespace nocturne {

void ByteWriter::real(double value) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  for (int i = 0; i < 8; ++i)
    byte(static_cast<uint8_t>(bits >> (8 * i)));
}

void ByteWriter::text(std::string_view bytes) {
  number(bytes.size());
  out_ += bytes;
}

void ByteReader::fail(const char* what) {
  throw Error(std::string("corrupt bytes: ") + what);
}

void ByteReader::failShort() {
  fail("they end too early");
}

uint64_t ByteReader::longNumber(uint8_t first) {
  uint64_t value = first & 0x7f;
  for (int shift = 7; shift < 64; shift += 7) {
    uint64_t part = byte();
    // The tenth byte has room for one bit.
    if (shift == 63 && part > 1)
      break;
    value |= (part & 0x7f) << shift;
    if (part < 0x80)
      return value;
  }
  fail("a number is too long");
}

double ByteReader::real() {
  std::string_view bytes = raw(8);
  uint64_t bits = 0;
  for (int i = 7; i >= 0; --i)
    bits = bits << 8 | static_cast<uint8_t>(bytes[static_cast<size_t>(i)]);
  return std::bit_cast<double>(bits);
}

bool ByteReader::flag() {
  uint8_t value = byte();
  if (value > 1)
    fail("a flag is neither 0 nor 1");
  return value == 1;
}

std::string_view ByteReader::text() {
  return raw(count());
}

std::string_view ByteReader::raw(size_t size) {
  if (size > remaining())
    failShort();
  std::string_view bytes(next_, size);
  next_ += size;
  return bytes;
}

Digest ByteReader::digest() {
  Digest out;
  std::string_view bytes = raw(out.bytes.size());
  std::memcpy(out.bytes.data(), bytes.data(), bytes.size());
  return out;
}

void ByteReader::expectEnd() const {
  if (remaining() != 0)
    fail("something follows their end");
}

} // namespace nocturne
