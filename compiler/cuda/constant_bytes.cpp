#include "compiler/cuda/constant_bytes.h"

#include <complex>

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include "compiler/codegen/entry_points.h"

namespace nocturne::compiler {

using namespace mlir;

namespace {

void append(const llvm::APInt& value, uint32_t bytes, std::string& out) {
  for (uint32_t i = 0; i < bytes; ++i) {
    unsigned start = 8 * i;
    unsigned width = value.getBitWidth() > start ? std::min(8u, value.getBitWidth() - start) : 0;
    out.push_back(width == 0 ? '\0' : char(value.extractBitsAsZExtValue(width, start)));
  }
}

} // namespace

bool appendElements(ElementsAttr attribute, std::string& out) {
  auto elements = dyn_cast<DenseElementsAttr>(attribute);
  if (!elements)
    return false;
  Type type = elements.getElementType();
  uint32_t bytes = elementBytes(type);
  out.reserve(out.size() + size_t(elements.getNumElements()) * bytes);
  if (isa<FloatType>(type)) {
    for (const llvm::APFloat& value : elements.getValues<llvm::APFloat>())
      append(value.bitcastToAPInt(), bytes, out);
    return true;
  }
  if (type.isIntOrIndex()) {
    for (const llvm::APInt& value : elements.getValues<llvm::APInt>())
      append(value, bytes, out);
    return true;
  }
  auto complexType = dyn_cast<ComplexType>(type);
  if (!complexType || !isa<FloatType>(complexType.getElementType()))
    return false;
  for (const std::complex<llvm::APFloat>& value :
       elements.getValues<std::complex<llvm::APFloat>>()) {
    append(value.real().bitcastToAPInt(), bytes / 2, out);
    append(value.imag().bitcastToAPInt(), bytes / 2, out);
  }
  return true;
}

} // namespace nocturne::compiler
