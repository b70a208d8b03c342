// Optimisations of linalg, on tensors and on buffers.
#pragma once

#include "mlir/Pass/PassManager.h"

#include "compiler/codegen/compile_options.h"

namespace nocturne::compiler {

// On tensors, before they get buffers.
void addOptimisations(mlir::OpPassManager& passes);
// On a function's buffers, while linalg still says what the loops are.
void addBufferOptimisations(mlir::OpPassManager& functionPasses, const CpuTarget& target,
                            const ProductSizes& sizes);

// Chains of elementwise operations become one operation, without the tensors between them.
std::unique_ptr<mlir::Pass> createFuseElementwisePass();

// What a processor has for vectors.
struct VectorUnit {
  int64_t bytes = 16; // of a register
  int64_t registers = 16;
  bool fma = false;
};
VectorUnit vectorUnit(const CpuTarget& target);

// Large sums of products of f32 and f64 become loops over blocks that fit the caches.
std::unique_ptr<mlir::Pass> createTileProductsPass(const VectorUnit& unit,
                                                   const ProductSizes& sizes);
// The innermost loop becomes the one along which most buffers are dense, and sums may be reordered.
std::unique_ptr<mlir::Pass> createOrderLoopsPass();
// Operations on the rows of the same buffers share one loop over them.
std::unique_ptr<mlir::Pass> createFuseRowsPass();
// Sums, maxima and minima over one dimension are taken where a loop before writes their elements.
std::unique_ptr<mlir::Pass> createMergeSumsPass();
// Exponential, logarithm and hyperbolic tangent of f32 become arithmetic.
std::unique_ptr<mlir::Pass> createExpandMathPass(const VectorUnit& unit);

} // namespace nocturne::compiler
