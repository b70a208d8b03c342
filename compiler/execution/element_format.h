// How elements look in memory, and numbers for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace llvm {
struct fltSemantics;
}

namespace nocturne::compiler {

// The form in memory of one element, as compiled code has it (see LibraryEntry). A complex element
// is two of its components.
struct ElementFormat {
  enum class Kind : uint8_t { Boolean, Signed, Unsigned, Real };
  Kind kind = Kind::Real;
  bool isComplex = false;
  unsigned bits = 0;                             // of a component
  unsigned bytes = 0;                            // of a component
  const llvm::fltSemantics* semantics = nullptr; // of Real

  unsigned components() const { return isComplex ? 2 : 1; }
  size_t elementBytes() const { return size_t{bytes} * components(); }
};

// Throws UsageError for a name that StableHLO does not have.
ElementFormat elementFormat(const std::string& dtype);

// The bits of the component at `data`, those beyond its width cleared.
uint64_t loadBits(const ElementFormat& format, const std::byte* data);
void storeBits(const ElementFormat& format, std::byte* data, uint64_t bits);

// Its value, exact but for integers beyond 2^53.
double toDouble(const ElementFormat& format, uint64_t bits);
// The component nearest to `value`; integers are clamped.
uint64_t fromDouble(const ElementFormat& format, double value);

// The whole element at `data` for people: "true", "-3", "1.5", "(1,-inf)"; reals with as many
// digits as tell them from their neighbours.
std::string elementText(const ElementFormat& format, const std::byte* data);

} // namespace nocturne::compiler
