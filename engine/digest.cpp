#include "engine/digest.h"

#include <cstring>
#include <new>
#include <type_traits>

#include <llvm/Support/BLAKE3.h>

#include "engine/error.h"

namespace nocturne {

namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

int hexValue(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return -1;
}

using State = llvm::BLAKE3;

State& stateIn(unsigned char* bytes) {
  return *std::launder(reinterpret_cast<State*>(bytes));
}

void update(unsigned char* state, std::string_view bytes) {
  stateIn(state).update(llvm::StringRef(bytes.data(), bytes.size()));
}

std::array<char, 8> littleEndian(uint64_t value) {
  std::array<char, 8> out;
  for (char& byte : out) {
    byte = static_cast<char>(value & 0xff);
    value >>= 8;
  }
  return out;
}

} // namespace

bool Digest::isZero() const {
  return *this == Digest();
}

std::string Digest::hex() const {
  std::string out;
  out.reserve(2 * bytes.size());
  for (uint8_t byte : bytes) {
    out += kHexDigits[byte >> 4];
    out += kHexDigits[byte & 15];
  }
  return out;
}

Digest Digest::fromHex(std::string_view text) {
  Digest digest;
  if (text.size() != 2 * digest.bytes.size())
    throw Error("a digest has 64 hexadecimal digits, not " + std::to_string(text.size()));
  for (size_t i = 0; i < digest.bytes.size(); ++i) {
    int high = hexValue(text[2 * i]), low = hexValue(text[2 * i + 1]);
    if (high < 0 || low < 0)
      throw Error("'" + std::string(text) + "' is not a digest in lower-case hexadecimal");
    digest.bytes[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return digest;
}

Hasher::Hasher() {
  static_assert(sizeof(State) <= sizeof(state_));
  static_assert(alignof(State) <= 8);
  // What lets a copy be a copy of bytes, and lets the destructor do nothing.
  static_assert(std::is_trivially_copyable_v<State> && std::is_trivially_destructible_v<State>);
  new (state_.data()) State();
}

Hasher::Hasher(const Hasher& other) {
  new (state_.data()) State(stateIn(const_cast<unsigned char*>(other.state_.data())));
}

Hasher& Hasher::operator=(const Hasher& other) {
  if (this != &other)
    new (state_.data()) State(stateIn(const_cast<unsigned char*>(other.state_.data())));
  return *this;
}

Hasher::~Hasher() = default;

Hasher& Hasher::field(std::string_view bytes) {
  number(bytes.size());
  return raw(bytes);
}

Hasher& Hasher::field(const Digest& digest) {
  return field(digest.view());
}

Hasher& Hasher::number(uint64_t value) {
  std::array<char, 8> bytes = littleEndian(value);
  return raw({bytes.data(), bytes.size()});
}

Hasher& Hasher::raw(std::string_view bytes) {
  update(state_.data(), bytes);
  return *this;
}

Digest Hasher::finish() const {
  // LLVM's final() does not change the hasher, it only lacks the const.
  Digest digest;
  digest.bytes = stateIn(const_cast<unsigned char*>(state_.data())).final();
  return digest;
}

Digest hashBytes(std::string_view bytes) {
  return Hasher().raw(bytes).finish();
}

} // namespace nocturne

size_t std::hash<nocturne::Digest>::operator()(const nocturne::Digest& digest) const noexcept {
  // The bytes of a digest are as good as random already.
  size_t out;
  std::memcpy(&out, digest.bytes.data(), sizeof(out));
  return out;
}
