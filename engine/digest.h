// BLAKE3 digests: content hashes, fingerprints and keys.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace nocturne {

struct Digest {
  std::array<uint8_t, 32> bytes{};

  bool isZero() const;
  std::string hex() const;                      // 64 lower-case characters
  static Digest fromHex(std::string_view text); // throws Error
  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  auto operator<=>(const Digest&) const = default;
};

// Fields are fed length-prefixed, so that {"ab","c"} and {"a","bc"} differ.
class Hasher {
public:
  Hasher();
  Hasher(const Hasher&);
  Hasher& operator=(const Hasher&);
  ~Hasher();
  Hasher& field(std::string_view bytes);
  Hasher& field(const Digest& digest);
  Hasher& number(uint64_t value);
  // Bytes as they are, without a length.
  Hasher& raw(std::string_view bytes);
  Digest finish() const;

private:
  // Big enough for LLVM's hasher; checked in digest.cpp, the only file that includes it.
  alignas(8) std::array<unsigned char, 1920> state_;
};

Digest hashBytes(std::string_view bytes);

} // namespace nocturne

template <>
struct std::hash<nocturne::Digest> {
  size_t operator()(const nocturne::Digest& digest) const noexcept;
};
