// Element and tensor types of the module table: what a cost model may know about a value.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nocturne {

// Every element kind StableHLO has. The order is part of the serialised form: append only.
// clang-format off
enum class ElementKind : uint8_t {
  None, // a value without element type (an opaque type)
  Token,
  I1,
  I2, I4, I8, I16, I32, I64,
  UI2, UI4, UI8, UI16, UI32, UI64,
  F4E2M1FN,
  F6E2M3FN, F6E3M2FN,
  F8E3M4, F8E4M3, F8E4M3FN, F8E4M3FNUZ, F8E4M3B11FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU,
  F16, BF16, TF32, F32, F64,
  Complex64,  // complex<f32>
  Complex128, // complex<f64>
  Index,
};
// clang-format on

// The element type of a tensor. A quantized element stores `kind` (its storage type) and remembers
// the type that it expresses.
struct ElementType {
  ElementKind kind = ElementKind::None;
  // None unless the element is quantized, e.g. I8 stored, F32 expressed.
  ElementKind expressed = ElementKind::None;

  bool isQuantized() const { return expressed != ElementKind::None; }
  bool operator==(const ElementType&) const = default;
};

// "f32", "bf16", "i1", "ui8", "complex<f32>", "f8E4M3FN", ... as MLIR prints it; "token" and
// "none".
std::string_view name(ElementKind kind);
std::optional<ElementKind> elementKindFromName(std::string_view text);

// Bits of information in one element: 1 for i1, 4 for i4, 64 for complex<f32>, 0 for tokens.
unsigned widthInBits(ElementKind kind);
// Bits that one element takes in memory: as widthInBits, but i1 takes a whole byte and tf32 lives
// in 32 bits. Two-, four- and six-bit kinds are packed.
unsigned storageBits(ElementKind kind);
bool isFloat(ElementKind kind);
bool isInteger(ElementKind kind); // signless, unsigned and i1; not Index
bool isComplex(ElementKind kind);
// F32 for Complex64, F64 for Complex128, the kind itself otherwise.
ElementKind componentKind(ElementKind kind);

inline constexpr int64_t kDynamic = std::numeric_limits<int64_t>::min();

// A tensor (or a scalar, rank 0, or a token). Tuples never appear: the reader flattens them.
struct TensorType {
  ElementType element;
  std::vector<int64_t> dims; // kDynamic where the extent is unknown
  bool ranked = true;

  bool isStatic() const;
  // Product of the extents; a dynamic extent counts as its bound where the reader knew one (it then
  // stored the bound and noted an assumption), else as 1. 0 for an empty tensor.
  double elementCount() const;
  // Bytes in memory: elementCount * storageBits / 8, rounded up to whole bytes. 0 for tokens.
  double bytes() const;
  // As MLIR writes it without the "tensor<>": "128x512xf32", "f32", "?x4xbf16", "*xf32",
  // "4x!quant.uniform<i8:f32>" (without scales).
  std::string text() const;

  bool operator==(const TensorType&) const = default;
};

} // namespace nocturne
