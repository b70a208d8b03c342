// Sums of products on buffers - matrix products, other contractions, convolutions - in one form.
#pragma once

#include <optional>

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace nocturne::compiler {

// A loop and how far the place in each buffer moves with it, in elements.
struct ProductLoop {
  int64_t extent = 1;
  int64_t lhs = 0, rhs = 0, result = 0;
};

// result += lhs * rhs over all loops. Places are linear in the loops, so that this covers every
// layout, and windows that slide as well. Loops of one element are left out and loops that walk
// through all buffers like one are merged. Loops of a list are ordered from outer to inner.
struct Product {
  mlir::Value lhs, rhs, result;
  mlir::FloatType element;
  llvm::SmallVector<ProductLoop> outer; // what fits none of the others
  llvm::SmallVector<ProductLoop> rows;  // not in rhs; in the result like one loop
  ProductLoop columns;                  // not in lhs, side by side in the result
  llvm::SmallVector<ProductLoop> sums;  // not in the result; at least one

  int64_t rowCount() const;
  int64_t sumCount() const;
};

// The form of `op`, an operation on buffers of f32 or f64 whose body adds a product of its two
// inputs to its output. Sides are exchanged if need be. Nothing for all other operations and for
// those without columns.
std::optional<Product> readProduct(mlir::linalg::LinalgOp op);

} // namespace nocturne::compiler
