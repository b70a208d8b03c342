// Large functions in pieces.
#pragma once

#include <memory>

#include "mlir/Pass/Pass.h"

namespace nocturne::compiler {

// Gives the loop nests of a block that has many of them a function each. LLVM updates its tree of
// dominators at every loop that it rotates, and a block that follows thousands of loops is as deep
// in that tree: a whole model in one function takes time that grows with the square of its size.
// Equal nests, of which a model of many layers has many, get one function.
std::unique_ptr<mlir::Pass> createOutlineLoopsPass();

} // namespace nocturne::compiler
