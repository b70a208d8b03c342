#include "compiler/execution/element_format.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "llvm/ADT/APFloat.h"

#include "engine/error.h"
#include "engine/tensor_type.h"

namespace nocturne::compiler {

namespace {

using Kind = ElementFormat::Kind;

const llvm::fltSemantics* semanticsOf(ElementKind kind) {
  switch (kind) {
  case ElementKind::F4E2M1FN:
    return &llvm::APFloat::Float4E2M1FN();
  case ElementKind::F6E2M3FN:
    return &llvm::APFloat::Float6E2M3FN();
  case ElementKind::F6E3M2FN:
    return &llvm::APFloat::Float6E3M2FN();
  case ElementKind::F8E3M4:
    return &llvm::APFloat::Float8E3M4();
  case ElementKind::F8E4M3:
    return &llvm::APFloat::Float8E4M3();
  case ElementKind::F8E4M3FN:
    return &llvm::APFloat::Float8E4M3FN();
  case ElementKind::F8E4M3FNUZ:
    return &llvm::APFloat::Float8E4M3FNUZ();
  case ElementKind::F8E4M3B11FNUZ:
    return &llvm::APFloat::Float8E4M3B11FNUZ();
  case ElementKind::F8E5M2:
    return &llvm::APFloat::Float8E5M2();
  case ElementKind::F8E5M2FNUZ:
    return &llvm::APFloat::Float8E5M2FNUZ();
  case ElementKind::F8E8M0FNU:
    return &llvm::APFloat::Float8E8M0FNU();
  case ElementKind::F16:
    return &llvm::APFloat::IEEEhalf();
  case ElementKind::BF16:
    return &llvm::APFloat::BFloat();
  case ElementKind::F32:
    return &llvm::APFloat::IEEEsingle();
  case ElementKind::F64:
    return &llvm::APFloat::IEEEdouble();
  default:
    return nullptr;
  }
}

uint64_t maskOf(const ElementFormat& format) {
  return format.bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << format.bits) - 1;
}

int64_t signExtended(const ElementFormat& format, uint64_t bits) {
  unsigned unused = 64 - format.bits;
  return std::bit_cast<int64_t>(bits << unused) >> unused;
}

llvm::APFloat toApFloat(const ElementFormat& format, uint64_t bits) {
  return {*format.semantics, llvm::APInt(format.bits, bits)};
}

template <typename Number>
std::string shortest(Number value) {
  char text[64];
  auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return {text, end};
}

std::string componentText(const ElementFormat& format, uint64_t bits) {
  switch (format.kind) {
  case Kind::Boolean:
    return bits ? "true" : "false";
  case Kind::Signed:
    return shortest(signExtended(format, bits));
  case Kind::Unsigned:
    return shortest(bits);
  case Kind::Real:
    break;
  }
  double value = toDouble(format, bits);
  if (std::isnan(value))
    return "nan"; // no sign: it means nothing
  return format.bits == 64 ? shortest(value) : shortest(float(value));
}

} // namespace

ElementFormat elementFormat(const std::string& dtype) {
  std::optional<ElementKind> kind = elementKindFromName(dtype);
  ElementFormat format;
  if (kind) {
    ElementKind component = componentKind(*kind);
    format.isComplex = nocturne::isComplex(*kind);
    format.bits = component == ElementKind::Index ? 64 : widthInBits(component);
    format.bytes = (format.bits + 7) / 8;
    format.semantics = semanticsOf(component);
    if (component == ElementKind::I1)
      format.kind = Kind::Boolean;
    else if (component >= ElementKind::UI2 && component <= ElementKind::UI64)
      format.kind = Kind::Unsigned;
    else if (isInteger(component) || component == ElementKind::Index)
      format.kind = Kind::Signed;
  }
  if (format.bits == 0 || (format.kind == Kind::Real && !format.semantics))
    throw UsageError("there are no tensors of \"" + dtype + "\" in memory");
  return format;
}

uint64_t loadBits(const ElementFormat& format, const std::byte* data) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, format.bytes);
  return bits & maskOf(format);
}

void storeBits(const ElementFormat& format, std::byte* data, uint64_t bits) {
  bits &= maskOf(format);
  std::memcpy(data, &bits, format.bytes);
}

double toDouble(const ElementFormat& format, uint64_t bits) {
  switch (format.kind) {
  case Kind::Boolean:
  case Kind::Unsigned:
    return double(bits);
  case Kind::Signed:
    return double(signExtended(format, bits));
  case Kind::Real:
    break;
  }
  llvm::APFloat value = toApFloat(format, bits);
  bool lost = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

uint64_t fromDouble(const ElementFormat& format, double value) {
  switch (format.kind) {
  case Kind::Boolean:
    return value != 0;
  case Kind::Signed: {
    double limit = std::ldexp(1.0, int(format.bits) - 1);
    if (value >= limit)
      return maskOf(format) >> 1;
    return uint64_t(int64_t(std::max(value, -limit))) & maskOf(format);
  }
  case Kind::Unsigned:
    if (value >= std::ldexp(1.0, int(format.bits)))
      return maskOf(format);
    return value > 0 ? uint64_t(value) : 0;
  case Kind::Real:
    break;
  }
  llvm::APFloat number(value);
  bool lost = false;
  number.convert(*format.semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
  return number.bitcastToAPInt().getZExtValue();
}

std::string elementText(const ElementFormat& format, const std::byte* data) {
  std::string first = componentText(format, loadBits(format, data));
  if (!format.isComplex)
    return first;
  return '(' + first + ',' + componentText(format, loadBits(format, data + format.bytes)) + ')';
}

} // namespace nocturne::compiler
