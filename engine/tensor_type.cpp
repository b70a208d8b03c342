#include "engine/tensor_type.h"

#include <algorithm>
#include <array>

namespace nocturne {

namespace {

enum class Family : uint8_t { Other, Integer, Float, Complex };

struct KindRow {
  ElementKind kind;
  std::string_view name;
  unsigned width;   // bits of information
  unsigned storage; // bits in memory
  Family family;
};

using enum ElementKind;

// Every kind, in the order of the enumeration.
constexpr KindRow kKinds[] = {
    {None, "none", 0, 0, Family::Other},
    {Token, "token", 0, 0, Family::Other},
    {I1, "i1", 1, 8, Family::Integer},
    {I2, "i2", 2, 2, Family::Integer},
    {I4, "i4", 4, 4, Family::Integer},
    {I8, "i8", 8, 8, Family::Integer},
    {I16, "i16", 16, 16, Family::Integer},
    {I32, "i32", 32, 32, Family::Integer},
    {I64, "i64", 64, 64, Family::Integer},
    {UI2, "ui2", 2, 2, Family::Integer},
    {UI4, "ui4", 4, 4, Family::Integer},
    {UI8, "ui8", 8, 8, Family::Integer},
    {UI16, "ui16", 16, 16, Family::Integer},
    {UI32, "ui32", 32, 32, Family::Integer},
    {UI64, "ui64", 64, 64, Family::Integer},
    {F4E2M1FN, "f4E2M1FN", 4, 4, Family::Float},
    {F6E2M3FN, "f6E2M3FN", 6, 6, Family::Float},
    {F6E3M2FN, "f6E3M2FN", 6, 6, Family::Float},
    {F8E3M4, "f8E3M4", 8, 8, Family::Float},
    {F8E4M3, "f8E4M3", 8, 8, Family::Float},
    {F8E4M3FN, "f8E4M3FN", 8, 8, Family::Float},
    {F8E4M3FNUZ, "f8E4M3FNUZ", 8, 8, Family::Float},
    {F8E4M3B11FNUZ, "f8E4M3B11FNUZ", 8, 8, Family::Float},
    {F8E5M2, "f8E5M2", 8, 8, Family::Float},
    {F8E5M2FNUZ, "f8E5M2FNUZ", 8, 8, Family::Float},
    {F8E8M0FNU, "f8E8M0FNU", 8, 8, Family::Float},
    {F16, "f16", 16, 16, Family::Float},
    {BF16, "bf16", 16, 16, Family::Float},
    {TF32, "tf32", 19, 32, Family::Float},
    {F32, "f32", 32, 32, Family::Float},
    {F64, "f64", 64, 64, Family::Float},
    {Complex64, "complex<f32>", 64, 64, Family::Complex},
    {Complex128, "complex<f64>", 128, 128, Family::Complex},
    {Index, "index", 64, 64, Family::Other},
};

constexpr bool rowsFollowTheEnumeration() {
  for (size_t i = 0; i < std::size(kKinds); ++i)
    if (kKinds[i].kind != static_cast<ElementKind>(i))
      return false;
  return std::size(kKinds) == static_cast<size_t>(Index) + 1;
}
static_assert(rowsFollowTheEnumeration());

const KindRow& rowOf(ElementKind kind) {
  size_t index = static_cast<size_t>(kind);
  return kKinds[index < std::size(kKinds) ? index : 0];
}

// Rounds up a non-negative number. Doubles of 2^53 and more are whole already.
double roundUp(double value) {
  if (!(value < 9007199254740992.0))
    return value;
  double whole = static_cast<double>(static_cast<uint64_t>(value));
  return whole < value ? whole + 1 : whole;
}

} // namespace

std::string_view name(ElementKind kind) {
  return rowOf(kind).name;
}

std::optional<ElementKind> elementKindFromName(std::string_view text) {
  for (const KindRow& row : kKinds)
    if (row.name == text)
      return row.kind;
  return std::nullopt;
}

unsigned widthInBits(ElementKind kind) {
  return rowOf(kind).width;
}
unsigned storageBits(ElementKind kind) {
  return rowOf(kind).storage;
}
bool isFloat(ElementKind kind) {
  return rowOf(kind).family == Family::Float;
}
bool isInteger(ElementKind kind) {
  return rowOf(kind).family == Family::Integer;
}
bool isComplex(ElementKind kind) {
  return rowOf(kind).family == Family::Complex;
}

ElementKind componentKind(ElementKind kind) {
  if (kind == Complex64)
    return F32;
  return kind == Complex128 ? F64 : kind;
}

bool TensorType::isStatic() const {
  return ranked && std::find(dims.begin(), dims.end(), kDynamic) == dims.end();
}

double TensorType::elementCount() const {
  double count = 1;
  for (int64_t dim : dims)
    if (dim != kDynamic)
      count *= static_cast<double>(dim);
  return count;
}

double TensorType::bytes() const {
  return roundUp(elementCount() * storageBits(element.kind) / 8);
}

std::string TensorType::text() const {
  std::string out;
  if (!ranked)
    out = "*x";
  for (int64_t dim : dims) {
    out += dim == kDynamic ? "?" : std::to_string(dim);
    out += 'x';
  }
  if (!element.isQuantized())
    return out += name(element.kind);
  out += "!quant.uniform<";
  out += name(element.kind);
  out += ':';
  out += name(element.expressed);
  return out += '>';
}

} // namespace nocturne
