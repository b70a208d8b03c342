// The conversion patterns from StableHLO to linalg, tensor, arith, math and scf, by family. Each
// pattern emits an error at the operation's place for what it cannot do and fails.
#pragma once

#include "mlir/IR/PatternMatch.h"

#include "compiler/lowering/types.h"

namespace nocturne::compiler {

// Every operation of scalarTable() as a linalg.generic; map.
void populateElementwise(LoweringTypes& types, mlir::RewritePatternSet& patterns);
// On a module, of any value: constants whose values the text leaves out get made-up ones instead of
// an error.
constexpr llvm::StringLiteral kGeneratedWeights = "nocturne.generated_weights";

// constant; part of populateShapes().
void populateConstants(LoweringTypes& types, mlir::RewritePatternSet& patterns);
// constant, iota, broadcast(_in_dim), reshape, transpose, bitcast_convert.
void populateShapes(LoweringTypes& types, mlir::RewritePatternSet& patterns);
// slice, dynamic_slice, dynamic_update_slice, pad, concatenate, reverse, select with a scalar
// predicate, clamp with scalar bounds.
void populateMovement(LoweringTypes& types, mlir::RewritePatternSet& patterns);
// reduce, with one and several operands.
void populateReductions(LoweringTypes& types, mlir::RewritePatternSet& patterns);
// reduce_window, select_and_scatter.
void populateWindows(LoweringTypes& types, mlir::RewritePatternSet& patterns);
// dot, dot_general, einsum.
void populateContractions(LoweringTypes& types, mlir::RewritePatternSet& patterns);
// convolution.
void populateConvolutions(LoweringTypes& types, mlir::RewritePatternSet& patterns);
// gather, torch_index_select, scatter.
void populateIndexing(LoweringTypes& types, mlir::RewritePatternSet& patterns);
void populateScatter(LoweringTypes& types,
                     mlir::RewritePatternSet& patterns); // of populateIndexing
// sort, chlo.top_k.
void populateSorting(LoweringTypes& types, mlir::RewritePatternSet& patterns);
// func, call, return, while, if, case, optimization_barrier, tokens, annotations that do nothing on
// one device (Sharding and the like), composites.
void populateControl(LoweringTypes& types, mlir::RewritePatternSet& patterns);
// cholesky, triangular_solve, fft.
void populateLinearAlgebra(LoweringTypes& types, mlir::RewritePatternSet& patterns);
void populateFft(LoweringTypes& types,
                 mlir::RewritePatternSet& patterns); // of populateLinearAlgebra
// rng_bit_generator, rng.
void populateRandom(LoweringTypes& types, mlir::RewritePatternSet& patterns);
// batch_norm_training, _inference, _grad.
void populateNormalisation(LoweringTypes& types, mlir::RewritePatternSet& patterns);

} // namespace nocturne::compiler
