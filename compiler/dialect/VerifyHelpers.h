// What the verifiers of all families need. They only reject what can never be right: a dynamic,
// unranked, quantized or bounded type is checked as far as it is known.

#pragma once

#include "compiler/dialect/AttrHelpers.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"

namespace nocturne::stablehlo {

using Dims = llvm::SmallVector<int64_t>;

inline mlir::RankedTensorType rankedType(mlir::Value value) {
  return llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
}

inline bool sizesAgree(int64_t a, int64_t b) {
  return a == b || mlir::ShapedType::isDynamic(a) || mlir::ShapedType::isDynamic(b);
}

// Whether a value of one type may stand where the other is declared: equal where both are known.
bool typesAgree(mlir::Type a, mlir::Type b);
bool typesAgree(mlir::TypeRange a, mlir::TypeRange b);
bool elementsAgree(mlir::Type a, mlir::Type b);

// The shape must be the result's, as far as both are known; `what` names the result in the error.
mlir::LogicalResult checkShape(mlir::Operation* op, llvm::StringRef what, mlir::Type actual,
                               llvm::ArrayRef<int64_t> expected);

// Each of `dims` lies in [0, rank) and appears once.
mlir::LogicalResult checkDims(mlir::Operation* op, llvm::StringRef what,
                              llvm::ArrayRef<int64_t> dims, int64_t rank);
mlir::LogicalResult checkDim(mlir::Operation* op, llvm::StringRef what, int64_t dim, int64_t rank);

// A list has one entry for each dimension.
mlir::LogicalResult checkCount(mlir::Operation* op, llvm::StringRef what, size_t actual,
                               size_t expected);

// `[2, ?, 3]`, for messages.
std::string formatDims(llvm::ArrayRef<int64_t> dims);

// Size of a window's result along one dimension; kDynamic where an input is.
struct WindowDim {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t padLow = 0;
  int64_t padHigh = 0;
  int64_t baseDilation = 1;
  int64_t windowDilation = 1;
};
int64_t windowedSize(int64_t input, const WindowDim& window);

// The windows of an operation with `rank` windowed dimensions, from its attributes; an absent
// attribute has its default. Fails with a message where a list has another length.
mlir::FailureOr<llvm::SmallVector<WindowDim>>
readWindow(mlir::Operation* op, llvm::ArrayRef<int64_t> sizes, mlir::Attribute strides,
           mlir::Attribute padding, mlir::Attribute baseDilations, mlir::Attribute windowDilations);

// A region has one block with `count` arguments; zero blocks are an error.
mlir::LogicalResult checkRegion(mlir::Operation* op, llvm::StringRef what, mlir::Region& region,
                                size_t arguments);
// Its terminator returns `count` values.
mlir::LogicalResult checkReturns(mlir::Operation* op, llvm::StringRef what, mlir::Region& region,
                                 size_t results);

} // namespace nocturne::stablehlo
