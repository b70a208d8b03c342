#include "compiler/dialect/VerifyHelpers.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace nocturne::stablehlo {

bool elementsAgree(Type a, Type b) {
  Type left = getElementTypeOrSelf(a), right = getElementTypeOrSelf(b);
  // Scales of quantized values may differ, and a quantized value may meet its expressed type.
  return left == right || isQuantized(left) || isQuantized(right);
}

bool typesAgree(Type a, Type b) {
  auto left = dyn_cast<TensorType>(a), right = dyn_cast<TensorType>(b);
  if (!left || !right)
    return a == b || (isa<TupleType>(a) && isa<TupleType>(b) &&
                      typesAgree(cast<TupleType>(a).getTypes(), cast<TupleType>(b).getTypes()));
  return elementsAgree(a, b) && succeeded(verifyCompatibleShape(left, right));
}

bool typesAgree(TypeRange a, TypeRange b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           return typesAgree(std::get<0>(pair), std::get<1>(pair));
         });
}

std::string formatDims(ArrayRef<int64_t> dims) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << '[';
  llvm::interleaveComma(dims, out, [&](int64_t dim) {
    if (ShapedType::isDynamic(dim))
      out << '?';
    else
      out << dim;
  });
  out << ']';
  return text;
}

LogicalResult checkShape(Operation* op, StringRef what, Type actual, ArrayRef<int64_t> expected) {
  auto type = dyn_cast<RankedTensorType>(actual);
  if (!type || succeeded(verifyCompatibleShape(type.getShape(), expected)))
    return success();
  return op->emitOpError() << "expected " << what << " of shape " << formatDims(expected)
                           << ", got " << formatDims(type.getShape());
}

LogicalResult checkDim(Operation* op, StringRef what, int64_t dim, int64_t rank) {
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError() << "expected " << what << " in [0, " << rank << "), got " << dim;
}

LogicalResult checkDims(Operation* op, StringRef what, ArrayRef<int64_t> dims, int64_t rank) {
  SmallVector<bool> seen(static_cast<size_t>(rank));
  for (int64_t dim : dims) {
    if (failed(checkDim(op, what, dim, rank)))
      return failure();
    if (seen[static_cast<size_t>(dim)])
      return op->emitOpError() << "expected distinct " << what << ", got " << formatDims(dims);
    seen[static_cast<size_t>(dim)] = true;
  }
  return success();
}

LogicalResult checkCount(Operation* op, StringRef what, size_t actual, size_t expected) {
  if (actual == expected)
    return success();
  return op->emitOpError() << "expected " << expected << " " << what << ", got " << actual;
}

int64_t windowedSize(int64_t input, const WindowDim& window) {
  if (ShapedType::isDynamic(input) || ShapedType::isDynamic(window.size))
    return ShapedType::kDynamic;
  const int64_t base = input == 0 ? 0 : (input - 1) * window.baseDilation + 1;
  const int64_t padded = base + window.padLow + window.padHigh;
  const int64_t extent = window.size == 0 ? 0 : (window.size - 1) * window.windowDilation + 1;
  return padded <= 0 || extent > padded ? 0 : (padded - extent) / window.stride + 1;
}

FailureOr<SmallVector<WindowDim>> readWindow(Operation* op, ArrayRef<int64_t> sizes,
                                             Attribute strides, Attribute padding,
                                             Attribute baseDilations, Attribute windowDilations) {
  const size_t rank = sizes.size();
  Dims stride = readI64ListOr(strides, rank, 1), base = readI64ListOr(baseDilations, rank, 1),
       dilation = readI64ListOr(windowDilations, rank, 1),
       pad = readI64ListOr(padding, 2 * rank, 0);
  if (failed(checkCount(op, "window strides", stride.size(), rank)) ||
      failed(checkCount(op, "base dilations", base.size(), rank)) ||
      failed(checkCount(op, "window dilations", dilation.size(), rank)) ||
      failed(checkCount(op, "padding values", pad.size(), 2 * rank)))
    return failure();
  SmallVector<WindowDim> window;
  for (size_t i = 0; i < rank; ++i) {
    if (stride[i] <= 0 || base[i] <= 0 || dilation[i] <= 0)
      return op->emitOpError() << "expected positive strides and dilations, got stride "
                               << stride[i] << " and dilations " << base[i] << " and "
                               << dilation[i] << " in window dimension " << i;
    window.push_back({sizes[i], stride[i], pad[2 * i], pad[2 * i + 1], base[i], dilation[i]});
  }
  return window;
}

LogicalResult checkRegion(Operation* op, StringRef what, Region& region, size_t arguments) {
  if (region.empty())
    return op->emitOpError() << "expected a " << what << " with a block";
  if (region.getNumArguments() != arguments)
    return op->emitOpError() << "expected a " << what << " with " << arguments
                             << " argument(s), got " << region.getNumArguments();
  return success();
}

LogicalResult checkReturns(Operation* op, StringRef what, Region& region, size_t results) {
  Block& last = region.back();
  if (last.empty() || !last.back().hasTrait<OpTrait::IsTerminator>())
    return success();
  if (last.back().getNumOperands() != results)
    return op->emitOpError() << "expected a " << what << " that returns " << results
                             << " value(s), got " << last.back().getNumOperands();
  return success();
}

} // namespace nocturne::stablehlo
